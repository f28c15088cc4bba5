/* The collection's own language model: what comes next, and text that goes on. */
let chipPlace = null, writtenPlace = null;
function language() {
  const field = $('#lq');
  if (!field) return;
  chipPlace = answersIn($('#chips')); writtenPlace = answersIn($('#written'));
  const heat = $('#lt'), result = () => { $('#lto').textContent = (+heat.value).toFixed(1); heat.setAttribute('aria-valuetext', `${(+heat.value).toFixed(1)}, ${heat.value < .7 ? 'careful' : heat.value > 1.2 ? 'wild' : 'as in the documents'}`); };
  heat.addEventListener('input', result); result();
  field.addEventListener('input', debounce(() => nextWords(), 160));
  field.addEventListener('focus', () => { if (!$('#chips').childElementCount) nextWords(); });
  $('#lf').addEventListener('submit', e => { e.preventDefault(); write(); });
}
function nextWords() {
  const text = $('#lq').value;
  chipPlace.ask('next', { query: { q: text, top: 10 } }, result => {
    $('#chips').dataset.after = text;
    if (!result.words.length) return [notice(result.note || 'No word is known to follow.', 'note')];
    return result.words.map(([word, probability]) => el('button', { class: 'chip', type: 'button', title: `${pct(probability, 1)} of the time`, on: { click: () => { const f = $('#lq'); f.value = `${f.value.replace(/\s+$/, '')} ${word}`.trimStart(); f.focus(); nextWords(); } } }, el('span', { class: 'txt', dir: 'auto', text: word }), el('span', { class: 'v', text: pctS(probability) }))).concat(result.note ? [notice(result.note, 'note')] : []);
  });
}
function write() {
  const prefix = $('#lq').value.trim(), seed = clamp(Math.round(+$('#ls').value) || 0, 0, 999999), temperature = +$('#lt').value;
  writtenPlace.ask('generate', { body: { prefix, words: 60, temperature, seed } }, result => {
    say('Text was written');
    return [el('blockquote', { class: 'written txt', dir: 'auto', text: result.text }), el('p', { class: 'note', text: `Made up by the model, seed ${seed}. No document says this.${result.note ? ' ' + result.note : ''}` }),
      el('div', { class: 'rowbtns' }, button('Another', () => { $('#ls').value = (seed + 1) % 1000000; write(); }))];
  });
}
