/* What is set up once, and what can be taken away. */
const EXPORTS = [
  ['documents.csv', 'Every document with its group, place and label, for a spreadsheet'],
  ['documents.parquet', 'The same with the whole texts, for pandas, Polars or DuckDB'],
  ['documents.json', 'The same as JSON'],
  ['groups.json', 'Groups with their words, sizes and verdicts'],
  ['tree.nwk', 'The tree of the groups in Newick form, for tree viewers'],
  ['projector-vectors.tsv', 'Vectors for the Embedding Projector'],
  ['projector-metadata.tsv', 'Names and groups for the Embedding Projector'],
  ['atlas.parquet', 'Texts, places and neighbors for Embedding Atlas'],
];
function exportsMenu() {
  const menu = $('#exports');
  $('#exportlist').append(el('ul', {}, ...EXPORTS.map(([name, what]) => el('li', {}, el('a', { href: `/api/export/${name}`, download: name }, el('b', { text: name }), el('span', { text: what }))))));
  menu.addEventListener('keydown', e => { if (e.key === 'Escape' && menu.open) { menu.open = false; $('summary', menu).focus(); } });
  addEventListener('pointerdown', e => { if (!menu.contains(e.target)) menu.open = false; });
  menu.addEventListener('focusout', e => { if (e.relatedTarget && !menu.contains(e.relatedTarget)) menu.open = false; });
}
extras.start.push(() => {
  document.body.append(el('datalist', { id: 'labelnames' }));
  exportsMenu(); setupSpread(); find(); context(); drawLabels(); drawSpread(); compare(); language(); divide();
  loadLabels(); resumeJobs();
});
