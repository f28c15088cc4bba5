# ruff: noqa: E501
"""Function words of 26 languages: what no name of a group, and no list of keywords, should hold.

The lists of ``tacit.classify`` tell ten languages apart, so they are short and leave out words
that two languages share. These are for leaving words out: pronouns, articles, prepositions,
conjunctions, auxiliary verbs, particles, in all their common forms. A word belongs to the list
of its language only: "war" is a function word of German and not of English.
"""

from functools import cache
from unicodedata import combining, normalize

from tacit.text.stop_words import ENGLISH

__all__ = ["CHARACTERS", "LIGHT", "NAMES", "stop_list", "stop_languages"]

COMMON = """
say says said saying tell tells told ask asks asked get gets got getting gotten go goes
going gone went come comes came coming take takes took taken taking make makes made making
put puts give gives gave given giving see sees saw seen seeing look looks looked looking
know knows knew known knowing think thinks thought thinking want wants wanted need needs
needed try tries tried trying use uses used using find finds found keep keeps kept seem
seems seemed feel feels felt become becomes became mean means meant happen happens happened
start started begin began call called calls show shows showed shown leave left let lets like
likes liked talk talks believe believes believed hear heard read thing things lot lots way
ways kind kinds sort bit stuff part parts time times day days year years week weeks month
months today tomorrow yesterday ago now new old good bad better best worse worst great big
small little large long short high low right wrong true sure different same certain able
likely possible several various many much oh ok okay yeah hey hi hello please thanks thank
thx anyone someone everybody actually probably really maybe simply quite pretty especially
usually generally particularly recently currently finally nearly almost etc eg ie vs per
cent dear sincerely regards cheers mr mrs ms sir monday tuesday wednesday thursday friday
saturday sunday mon tue tues wed thu thur thurs fri sat sun jan feb mar apr jun jul aug sep
sept oct nov dec january february march april june july august september october november
december zero two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty
ninety hundred thousand million billion second third fourth fifth sixth seventh eighth ninth
tenth ii iii iv vi vii viii ix xi xii xiii xiv xv xvi xvii xviii xix xx thou thee thy thine
ye hath doth hast dost art shalt wilt tis twas unto whence hither thither didst canst
wouldst shouldst hadst nay ere o'er e'en ne'er th someone's one's lest amid amidst among
despite regarding concerning considering including according upon whereby wherein thereof
hereby herein toward aside
"""
LIGHT = frozenset(COMMON.split())

NAMES = {
    "ar": "Arabic", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "fa": "Persian", "fi": "Finnish", "fr": "French",
    "hi": "Hindi", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ko": "Korean",
    "nb": "Norwegian", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese",
}  # fmt: skip

# Written without spaces, as single characters: particles, pronouns, copulas, adverbs.
CHARACTERS = frozenset(
    "的了是在和有不我他她它们你您这那个与及为以于之其而或就都也还很更最被把让从到对将会能可要没无但因所如若则并且又再已曾着过吗呢吧啊嘛地得等各每某此该些么什谁哪怎样者只由向自跟给比"
    "個與為於們這沒無還讓從對將會麼誰樣給"
)

LISTS = {
    "de": """allerdings gesamten heißt schwer
        heute mal geht bitte muß vier fünf sechs später gab sogar weg letzten eigenen geworden ins
        besser finden genug gegeben gute guten guter gutes sofort diesmal kleinen kleine letzte
        letzter nächste nächsten stehen bleibt bleiben zeit beispiel bedeutet besitzt
        daß steht einfach sowie drei zwei ersten erste großen große gut neben laut rund etc
        ab aller allem allen alles anderer anderen anderem anderes andere ansonsten auch aufs
        bald beide beiden beim bereits besonders bevor bisher bloß bzw dabei dadurch dafür dagegen
        daher dahin damals danach daneben daran darauf daraus darf darin darum darunter darüber davon
        davor dazu deine deinem deinen deiner deines denen deren derer derjenige deshalb dessen
        deswegen diejenigen dort dürfen durfte eben ebenfalls ebenso eher eigentlich einander einige
        einigen einiger einiges einmal einzig entweder erst etwa eure eurem euren eurer falls fast
        ganz ganze ganzen gar gegenüber gehabt genau gerade gern gewiss gibt ging hatten hattest
        hätten hinter ihrem ihren ihrer ihres indem infolge innerhalb inzwischen irgend jede jedem
        jeden jedes jedoch jemand jene jenem jenen jener jenes jeweils keinem keinen keiner keines
        kommen kommt könne könnt könnte könnten konnte konnten kann lassen lässt machen macht manche
        manchem manchen mancher manchmal meinem meinen meiner meines meist meisten mochte möchte
        möchten mögen möglich müssen müsste musste mussten nachdem nah neben nehmen neue neuen neuer
        neues nie niemand obwohl oft per pro sagt sagte samt schließlich seien seinem seinen seiner
        seines seit seitdem selbst selber solche solchem solchen solcher sollen sollte sollten somit
        sondern sonst soweit sowie sowohl statt stets trotz trotzdem über überhaupt übrigens
        ums unsere unserem unseren unserer unseres usw viel viele vielem vielen vieler vielleicht
        völlig während wann wär wäre wären wegen weiter weitere weiteren weiterhin welche welchem
        welchen welcher welches wem wen wenig wenige wer werde wessen wieder wieso will wirklich wird
        wo wobei wodurch wohl wollen wollte wollten worden würde würden wurde wurden zudem zum zur
        zurück zusammen zwar zwischen zu bei ihr ihm wir euch es jahr jahre jahren uhr z.b""",
    "es": """ms tambin adems slo estn cmo despus segn travs ltimo dems aos aqu puedes est caso hora buen
        buena tiempo lado cerca llega creo
        primera primer dos tres
        además ahí ahora algún alguna algunas alguno alrededor ambos aquella aquellas aquello
        aquellos aun bastante cada cierta cierto cómo conmigo consigo contigo cualquier cualquiera
        cuánto cuanto cuya cuyas cuyo cuyos debe deben deber decir demás demasiado dentro después dice
        dicen dicha dicho dichos dijo él embargo encima entonces éramos esas ese esos estaba estaban
        estado estamos estar estará estén esté estuvo éste ésta éstos fuera fuimos fui haber habían
        habrá hacen hacer hago haya hayan hemos hecho he hizo hubo igual incluso ir jamás juntos
        luego mas mayor mayoría mejor menor menos mía mías mío míos misma mismas mismo mismos
        muchas muchos mucha nadie ningún ninguna ninguno nosotras nuestras nuestros nunca ocurre
        otras otros parte pocos poca podemos poder podía podrá podría pueden puedo pudo queda quienes
        quién quiere quizá quizás sabe salvo sean seré será serán sería siendo sido sino solamente
        sólo solo somos suya suyas suyo suyos tal tales tampoco tantos tenemos tenía tenían tiene tienen
        toda todas todavía todo todos tras través tu tus tú tuvo última último últimos un una unas
        uno unos usted ustedes va vamos van varias varios vaya veces ver vez vosotros voy vuestra
        vuestro y ya yo años año día días gran""",
    "fr": """important but
        se non possible veut assez mis mise seront pourrait cas compte ii heures mois façon permet
        nombre permettent prendre prend grand grande seule seul seuls temps lieu place lorsqu
        première premier deux trois choses fait même
        abord ailleurs ainsi allez allons ans année années aucune auprès auquel aura aurait
        auront autant autour autres autrement auxquels avaient avais avoir ayant beaucoup c ça
        ceci cependant certain certaine certaines certains cet chacun chacune ci combien contre
        côté cours d dedans dehors déjà delà depuis derrière dès desquels dessous dessus devant
        devait devra doit doivent donc duquel durant également elle-même enfin ensuite entre envers
        es êtes étaient étais était étant été être eurent eut eux-mêmes excepté faites fallait faut
        fera feront fois font fut grâce hors ici jamais jour jours jusque jusqu'à l laquelle lequel
        lesquelles lesquels loin longtemps lors lorsque ma mal malgré mes mieux mien moindre moment
        n ni nom nombreux nôtre nous-mêmes nouveau nouvelle oui outre par-dessus parfois parmi
        part partout personne petit peuvent peux plein plupart plusieurs plutôt pourtant près presque
        puis puisque qu quant quelle quelles quels quelqu'un quelque rien s seulement selon sien
        soi soit sommes souvent suis surtout t tandis tant tel telle telles tels tellement toujours
        toutes tu un une va vers voici voilà vont vos votre vous vu y à""",
    "it": """poche punto
        solo quel quelli tanti purtroppo subito detto dato possibile scorso ieri nuove fine rispetto
        tempo ore giorni giorno seconda mila domani lunedì martedì mercoledì giovedì venerdì sabato
        domenica dell dall nell all quest vuole messa caso considerato torna
        prima primo due tre
        abbia abbiano adesso affinché al alcun alcuna alcune alcuno allora almeno altra altre
        altri altrimenti altro ambedue anzi appena attraverso avanti avendo aver avesse avete avevano
        avevo avrà avrebbe avuto ben bene benché bisogna cioè circa col coi comunque cosicché
        cose da dagl davanti davvero deve devono dire diversi dobbiamo dov'è dovrebbe due dunque
        durante è ebbe ecco ero esse essi essa esso eppure fare fatto fanno fosse fossero fu furono
        finché forse gran grande hanno infatti infine inoltre insieme intanto intorno invece l
        lì là loro magari malgrado medesimo meglio mentre mie miei modo molta molte molti
        nemmeno neppure nessun nessuna nessuno nostra nostre nostri nulla nuova nuovo oltre oppure
        ora ormai ovvero parte peggio perciò pochi poco poiché possa possiamo possono posso
        potere potrebbe presso primo proprio propria propri puoi pur pure qualche qualcosa qualcuno
        quali qualsiasi quanta quante quanti quasi quegli quei quell questi sarebbe saranno secondo
        sembra sempre sé siamo siano siete sono sopra soprattutto sotto spesso sta stata state stati
        stato stesso stessa stessi su sua sue sui sul sull sulla sulle sullo suo suoi tale tali tanta
        tanto tra tranne troppo tu tua tue tuo tuoi tutta tuttavia tutte tutti tutto un una uno va
        vari verso vi via voi volta volte vostra vostro anni anno""",
    "nl": """vijfde actief
        rond per elkaar samen één sinds bijvoorbeeld eerder laten steeds kwam ging komt komen tweede
        keer nemen nam vier vijf zes hield konden laatste zien kreeg staan beiden hele eenmaal
        verschillende kleine groot snel tegenwoordig maakte begon einde haalde begonnen
        vooral aantal gebruikt soort tijd twee drie vele zoals
        aangaande achter af afgelopen alhoewel alle allen alsof althans anders beide beneden
        beter bijna binnen boven bovendien buiten daarbij daardoor daarin daarmee daarna daarom daarop
        daarvan deed den der des dezelfde dikwijls doe doet echter eerst eerste eigen elk elke enkel
        enkele erg ervan even eveneens evenwel gaan gaat gauw gedaan geef gehad gekund gemaakt gewoon
        goed grote hare hebt hen hierbij hierin hierop hoewel ieder iedere iedereen inderdaad indien
        intussen inzake jaar jaren jouwe juist kunt later liever lang langs lijkt maak maakt
        maken mag meest men mezelf mijne minder misschien mocht mochten moest moesten mogelijk mogen
        naast namelijk nadat nauwelijks nee neen net niemand nieuwe nooit nou nogal noch omtrent ondanks
        onszelf ooit opnieuw ten ter terug terwijl tijdens toe totdat tussen uitgezonderd vaak vanaf
        vandaan vanuit vanwege verder verre vervolgens via volgens voordat voorbij waarbij waarin
        waarop waarvan wanneer want weer weg weinig welk welke werden wilde willen wordt zoals
        zodat zonder zouden zelfs zeer zei zegt ziet zie zowel zulke zullen""",
    "pt": """daí acredita
        diz estamos caso partir fora mim lo através quer várias boa bom mil faça feita usou passa
        passada ex segunda semana conforme completamente começou basta forma
        primeira dois três
        acerca agora algum alguma algumas ambos antes após aquelas aqueles aquilo às à bastante
        cada certo cerca cuja cujo daquela daquele dentro destas desta destes deve devem dever diante
        disse disso disto dizer dois durante enquanto então entretanto essas esses estas estes estar
        estará estava estavam esteja esteve estivesse estou etc façam faz fazem feito fez fica
        ficou foram fosse fossem fui grande haja haver havia hoje ir jamais lado logo longe maior
        maioria mal mediante melhor menos mesma mesmas mesmos minhas muita muitas nela nele neles
        nenhum nenhuma nesta neste ninguém nisso nossas nossos novo nova num outras outros parte
        pelo perante pôde podem poder poderá poderia podia pois ponto porém portanto posso pouca
        poucos primeira primeiro própria próprio próximo puderam quais qualquer quanta quantas quantos
        quase quê são segundo seja sejam sendo sermos serão seria sido só somente somos sou tal
        talvez também tampouco tanta tantos tão te tem têm temos tempo tenha tenho ter terá terem
        teve teu teus tinha tinham tive tivesse tipo toda todas todavia todo todos tu tua tudo última
        último um uma umas uns vai vamos vão vários vem vez vezes você vocês vos à ano anos dia dias""",
    "sv": """slutet viktiga ställa kräver
        finns se per ta ju ca ex via ännu ytterligare del innebär gäller behöver visar ligger eget
        egen egna ingår antal avses leder tid fyra sista
        bör exempelvis sätt två tre dessa
        aldrig allra alltid alltså anser ang annan annat andra arton att bakom bland blivit bort
        borde bra bredvid båda bättre bäst dag dagar dagens där därför dåligt eftersom eller
        endast enkel enligt ens era ert ett exempel fall fast fem fick fler flera flesta fram framför
        få fått för förra första försöka ganska ge genast gick ger gjorde gör göra gott gå gång
        går gått god gamla gamle henne heller hit honom hos huvudsakligen hög höger här härifrån
        idag igenom igår ihop in inför ingenting inga inne innanför inuti i jo just jämfört kanske
        knappast kom komma kort kring kunna kunnat kvar lite liten litet lika likaså länge längre
        lätt långt låt man medan menar mest mindre minst mittemot mor motsatt mycket många måste
        möjligt ned nedan nej ner ni nog nr nu ny nya nytt nära någon någonting något några nån
        ofta ofta olika omkring onödigt ord pga precis rakt redan rätt sade sagt samma samt sedan
        senare senast ser sida sist sitta själv skulle slutligen små snart stor stora större största
        ständigt säger sämre så sådana tack tar tidigare till tills tillsammans tog två tyvärr under
        ungefär uppe ur utanför utav utom va vad vanlig vart vår våra vårt vet vid vidare vilka vilken
        vilket vill visst väl vänster åt även år åren är över""",
    "pl": """taką raz czas latach znajduje wyszło
        teraz proc tyle później godz natomiast wcześniej dopiero wczoraj ul chwili ciągu miejscu
        sposób zdaniem ostatnich nowy nowej powiedział dodał wciąż wraz równie pierwszym pewnym
        kolejny źle widać lata czasu znaleźć jutro tuż wokół niemal nowego
        pięć cztery
        trzy tys jesteśmy mówi całości dwóch zł
        ach acz aczkolwiek albowiem ależ bardziej bądź bowiem będę byli byłem byłby byłoby chociaż
        choć ciebie cokolwiek coś czasem czasami czego czemu czym dał daleko dlaczego dlatego dobrze
        dokąd dość dużo dwa dwie dwaj dziś dzięki gdyż gdziekolwiek gdzieś innych innego inna inne
        jaka jakaś jaki jakiś jakich jakby jakim jedna jedno jeden jednego jednej jednym jeszcze
        każda każde każdego kilka kimś kogo komu koło która którą którym którymi kiedyś lat lecz lub
        mało mamy miał miała mimo mniej mogą mogę moim moje musi musieć naprawdę nagle należy
        natychmiast naszego nasza nasze naszych nią nimi nikt no obok około on owszem pana pani
        ponad ponieważ powinien powinna powinno podczas pomimo poprzez potem prawie przecież
        przede przedtem raczej razem roku rok sam sama same sobą skąd są swego swoim swój swoją swych
        swoich swojego szczególnie taka taki takie takich tę tą temu to tobą tobie toteż totobą trzeba
        tu tutaj twoim twoja twoje twój ty tych tylko tym tymi u w wam wami was wasz we według
        wiele wielu więc więcej właśnie wszyscy wszystkich wszystkie wszystko wtedy wy więc z za zapewne
        zaraz zawsze ze zeznowu zł znów został została zostały zostało żaden żadna żadne żadnych że żeby""",
    "fi": """koskaan sopiva uudet erilaisia
        kuuluu voidaan eri voit jälkeen jolloin varten tehdään samoin ajan mukaisesti erityisesti
        viime tulisi muassa avulla itselleen toiseksi kymmenen olemaan mahdollista täytyy päivä
        kolme neljä viisi ensimmäinen alkoi antaa
        lainkaan saanut jne
        miten erittäin jatkuvasti kokonaan kaksi ensin sekä eli noin
        aikana aina aivan ainakin alas alla asti edelleen edes eilen eräs esimerkiksi hei heille
        hiukan hänellä häneltä hänessä hänestä ikinä jonka jonkin joiden joissa joista joilla jolle
        johon jonka josta jotain jotakin joukossa kai kaikissa kaikkia kaikkien kerran keskellä kohti
        kuinka kun kukaan kunnes kuten lähes lähellä läpi lisää luo luona lukien me meillä meistä
        mielestä minkälainen minulle minussa minusta missään molempia monet moni monta muiden mukana
        muu muun muut muutama mutta myöhemmin n nämä nähdä näiden näissä näitä niille niin niistä
        niihin noissa nopeasti ohi oikein olemme olette oleva olevan oli olimme olin olisi olisin
        olisivat olit olivat olla olleet ollut oma omat on ovat paitsi paljon päälle pian pitkin
        pitää poikki pois rajat saa saada sekä seuraava sellainen sen siellä siihen siinä siitä siis
        siksi sillä sinne sinulle sinun sinä siten sitten sitä suuri suurin tai taas takana takia
        tapauksessa te teidän tehdä tietysti toinen toisen toki tämä tämän tänään tässä tästä täten
        tätä tähän tulee tulla tuo tuon tuossa tuolla tällä ulos usea useimmat vaan vai vaikka vailla
        varmasti vasta vastaan vielä vieressä voi voida voisi voivat vähän vähiten välillä yhä yksi yli
        yllä ympäri vuoden vuonna vuotta""",
    "da": """idet fleste små bruger
        selv godt kl lidt sammen måde helt bare første både går rigtig god komme lille gang bl
        aldrig stadig faktisk par give ca tidligere stort sige siger større jo allerede eks indenfor
        siden blandt gerne gå nyt via bedre giver frem næsten blevet ellers videre hurtigt gik næste
        tak bedste står taget holde finde betyder muligt synes dag dage del tid tiden nemlig lade
        gav bliv seneste yderligere
        kommet måske
        begge nye derfor gange sidste gode fået to tre hele samtidig netop
        af alle alt altid anden andet andre at blev blive bliver burde da de dem den denne dens
        der deres det dette dig din dine disse dit dog du efter ej eller en end endnu er et får fik flere
        for fordi forskellige fra få før først gennem gøre gør ham han hans har havde have hendes
        her hos hun hvad hvem hver hvilken hvilke hvis hvor hvordan hvorfor hvornår i igen ikke ind
        ingen inden intet ja jeg jer jeres kan kom kommer kun kunne lige man mange med meget mellem
        men mens mere mest mig min mindre mine mit mod må måske ned nej noget nogle nogen nok nu ny
        når også og om omkring op os over på samme samt se ses sig sin sine sit skal skulle som stor
        store så sådan sådanne tage tager thi til tilbage ud uden under var ved vi vil ville vor
        vores være været år""",
    "nb": """gis eneste imidlertid vist innenfor rett
        se få nye gang tid del ta gir dag våre derfor sammen sier godt gi alt første dersom videre
        svært større største fått tatt bør mulig nok ser gikk tidligere langt likevel frem vårt
        siste ny igjen allerede gjelder frå fortsatt stor slike tar fikk komme ei egen egne ca blant
        bruke ligger ønsker gjerne knyttet betyr grunn nytt gjøres enkelte dagen
        inntil kommet kanskje
        gjennom følgende spesielt viktig to tre ha hele samt
        alle andre annen annet at av bare begge ble bli blir blitt både da de deg dei deim deira
        deires dem den denne der dere deres det dette di din disse ditt du dykk dykkar då eg ein eit
        eitt eller elles en enn er et ett etter flere for fordi forsøke fra fram får før først gjøre
        gjør god ha hadde han hans har hennes her hjå ho hoe honom hos hun hva hvem hver hvilke
        hvilken hvis hvor hvordan hvorfor i ikke ikkje ingen inn innen inni ja jeg kan kom kommer
        korleis korso kun kunne kva kvar kvarhelst kven kvi kvifor litt man mange med medan meg meget
        mellom men mens mer mest mi min mindre mine mitt mot mye må måtte ned neste nei no noe noen
        noka noko nokon nokor nokre nå når og også om opp oss over på rundt samme seg selv si sia sidan
        siden sin sine sitt sjøl skal skulle slik so som somme somt store så sånn til tilbake um
        under upp ut uten var vart varte ved vere verte vi vil ville vore vors vort vår være vært å år""",
    "cs": """nakonec jakou právě doc naleznete fakt
        dne dva dvě nás dále nejen toto jedná patří zejména samozřejmě ovšem všechny opět později
        vlastní li část případě den takové takový taková příliš zároveň zcela díky kterých kterého
        kterým svým těchto stále méně třeba každé každá několik všem vše nikdy třetí druhý druhé tři
        čtyři pět stalo čl konce
        začíná jen
        kromě nikdo nebude dalších další daląí která také budete ještě
        a aby ale ani ano asi až bez bude budem budeme budeš budou by byl byla byli bylo být
        byly bych co což cz či článek další dnes do ho i já jak jaké jako je jeho jej její jejich
        jen jenž jeho ještě ji jiné jinak již jsem jsi jsme jsou jste k kam každý kde kdo kdy když
        která které kterou který kteří ke letech let lze ma má mají máme mezi mi mít mne mnoho
        může možno my na nad nám napište naše náš ne nebo nebyl nebylo nechť nejsou není než nic
        nich ním nové nový o od on ona oni pak po pod podle pokud pouze prav pro proč proto protože
        první před přes při řekl roce roku s se si sice směrem snad so spolu své svou svůj svých
        svého ta tak také takže tam tato te tě tedy těm ten tento těch této tím tímto to tohle toho
        tohoto tom tomto tomu tu tuto tvůj ty tyto u už v vám váš vaše ve velmi více však všech
        všechno všichni vy z za zda zde ze že""",
    "hu": """kapcsolatban rendelkező található keretén részét közbe számított
        csak ha ma es hozzá miatt aztán annak négy együtt tíz áll vált állt módon mind arról például
        hát tudom ben ban éves évek kis alá hat azaz alapján napokban elmúlt egymáshoz többen részén
        mai levő tartozó kezdve ehhez abból ebből attól ettől akit mikor ám ugyan csupán inkább
        szintén ezután során iránt felett fölött mögött elé alól körül öt hét nyolc kilenc második
        harmadik bizonyos többi nincsenek lesznek tud tudja kellene
        két egyszer stb három hosszú ennek ezek egyik
        a abban ahhoz ahogy ahol aki akik akkor alatt által általában amely amelyek amelyekben
        amelyet amelynek ami amit amolyan amíg amikor át abba arra azon azonban azok az azért azt
        azután azzal be belül benne bár cikk de e ebben eddig egész egy egyes egyetlen egyik egyéb
        egyre ekkor el elég ellen elő először előtt első én éppen ebbe emilyen ennek erre ez ezt ezek
        ezen ezért ezzel és fel felé hanem hiszen hogy hogyan igen így ill illetve ilyen ilyenkor is
        ismét itt jó jól jobban kell kellett keressünk keresztül ki kívül között közül le lehet lehetett
        legalább legyen lenne lett lesz maga magát majd már más másik meg még mellett mert mely melyek
        mi mint mit míg miért milyen minden mindent mindenki mindig mintha mivel most nagy nagyobb
        nagyon ne néha nekem neki nem néhány nélkül nincs olyan ott össze ő ők őket pedig persze rá
        s saját sem semmi sok sokat sokkal számára szemben szerint szinte talán tehát teljes több
        tovább továbbá úgy ugyanis új újabb újra után utána utolsó vagy vagyis valaki valami valamint
        való vagyok van vannak volt voltak voltam vele vissza viszont volna év évben""",
    "ro": """ntr-o tip mic înseamnă fata
        si in daca dupa trebuie timp cadrul prima spre partea ii precum ul doua până urma fel an
        cand isi mari zile cazul putem intr zi puteti catre primul există asa fac patru cat îşi
        aproape imediat iti tuturor nou pare ma parte loc mare ora fapt faptul lucru devenit doresc
        singur tine vedea permite decat atat deoarece s-au nr
        foarte astăzi
        şi numai s-a ţi face doi două trei prin ceea fără
        a abia acea aceasta această aceea aceia acel acela acele acelea acest acesta aceste
        acestea acestei acestor acestui acești acum adică ai aia aici al ale alt alta altă alte
        altul am anume apoi ar are aș asemenea asta astfel asupra atât atunci au avea avem aveți
        avut azi ba bine ca că câ când care căreia cărora căruia cât câte câți ce cea cei cel cele
        celor ceva chiar ci cine cineva cu cum cumva către da dacă dar dat de deci deja deși despre
        din dintre doar după ea ei el ele era este eu fără fi fie fiecare fiind fost îl îi îmi în
        înainte încă încât însă într între își iar ia la le li lor lui mai mea mei mele mereu meu mi
        mod mult multă multe mulți ne nici nimic niște noastră noastre noi nostru nu o oricare orice
        ori pe pentru peste poate pot prea prin printre putea s sa să săi său sale sau se și sînt sub
        sunt suntem ta tale tău te tot toată toate toți totuși tu un una unde unei unele uneori
        unii unor unui unul va vă vi voi vom vor vostru ani anul""",
    "tr": """verilen olmayan tarihinde bildirilir
        büyük yeni genel içinde önemli şekilde iyi yılında gün devam birlikte üzerinde uygun alan
        edilen farklı üzerine bütün aynı kez arasında günü hale gerek hakkında tek itibaren gerçek
        bugün haline belirli sahip ait eder halinde etmek konusunda konusu nedeniyle gelen ayrı
        başka üzerinden bulunan eden gerekli yönelik bağlı dedi tam yer dört beş altı yedi sekiz
        dokuz yüzden alanda belirten katkıda tabi bünyesinde söz mümkün yüksek özel tarafýndan yýl
        toplam
        ilk özellikle yandan iki üç önce ayrıca etti
        acaba ama ancak artık aslında az bana bazı bazen belki ben beni benim beri bile bir biri
        birkaç birçok birşey biz bize bizi bizim böyle böylece bu buna bunda bundan bunlar bunları
        bunların bunu bunun burada çok çünkü da daha dahi de defa değil diğer diye dolayı dolayısıyla
        en eğer fakat fazla gibi göre hala hangi hatta hem henüz hep hepsi her herhangi herkes hiç
        hiçbir için ile ilgili ise işte kadar karşı kendi kendine kendini ki kim kimse mi mı mu mü
        nasıl ne neden nedenle nerede niçin niye o olan olarak oldu olduğu olduğunu olduklarını olmadı
        olmak olması olsa olsun olup olur ona ondan onlar onları onların onu onun orada oysa öyle pek
        rağmen sadece sana sanki sen seni senin siz size sizi sizin son sonra şey şeyler şimdi şöyle
        şu şuna şunu tarafından tüm üzere var vardır ve veya ya yani yapılan yapmak yerine yine
        yoksa yok zaten zaman yıl""",
    "ru": """той двух две другим нашего свое делать первый первая первые быстро часов говоря одной одного
        одним одна одно
        ему просто нас будет этим конечно тебе однако всегда нам ним своих мог другие всем день
        кажется сторону никак больше самое такое такая будут могли поэтому впервые понятно виду
        рядом времени самый самая самые сама само мной мною тобой ими ней нею нем нём чему какие
        каких каким некоторые некоторых другой другая другое других друг весьма довольно вдруг снова
        едва пока пусть хотя зато итак наконец куда откуда туда сюда отчего зачем почему сколько
        столько несколько каждый каждая каждое каждого всякий иной иначе сегодня вчера завтра стал
        стала стали стать сказал сказала говорит должен должна должны
        лишь ведь именно думаю этому
        благодаря вообще кому мало многие новых очень два три можно нужно
        а без более бы был была были было быть в вам вас весь во вот все всего всех всё вы где
        да даже для до его ее её если есть еще ещё же за здесь и из или им их к как какая какой ко
        когда кто ли либо лучше между меня мне много может можно мой моя мы на над надо наш не него
        нее нет ни нибудь никогда них ничего но ну о об один он она они оно опять от перед по под
        после потом потому почти при про раз разве с сам свой своего своей свои свою себе себя сейчас
        со совсем так также такой такие там тебя тем теперь то тогда того тоже только том тот тут ты
        у уж уже хоть хорошо чего чем через что чтоб чтобы чуть эти этих этого этой этом этот эту это
        эта я является который которая которые которое которых которого которой году лет время""",
    "uk": """менше всіма відомо спочатку році складі мати нова нове новий
        має бо багато навіть свою такі свої ст треба сьогодні тобто тут завдяки інші свого наприклад
        повинен буде можуть будь три найбільш хоч день просто разом двох хоча повинні протягом
        потрібно кожного поки перед собою сам якими усіх необхідно числі поряд наприкінці йдуть
        такої такого таких такими цими цим цією мною тобою ними ким чим кого яким якою якому кілька
        декілька деякі деяких завжди ніколи знову потім отже адже тощо сама самі чотири п'ять перший
        третій
        нього ті неї часто лише цьому
        більше зокрема проте одного час два дуже може
        а або але б без би був була були було бути в вам вас весь вже ви від він вона вони воно
        все всі всіх да де для до є її їм їх і із інших й його йому з за зі же із інший його коли
        кожен котрий крім лише ми між мене мені може можна моя на над нам нас наш не неї нею ні ним
        них ніж ну о об один однак от ось під по після про при проти саме свій своє своєї своїх себе
        собі та так також такий там те тебе теж тепер ти тим тих то тоді того той тому тільки
        у усі уже хто це цей цього цієї цих ці ця цю чи через чого чому ще що щоб щодо я як яка яке
        який яких якщо які якого якої яку року років""",
    "el": """επειδή μήνες πρεπει λένε ανάγκη παραμείνει
        νέα σήμερα υπάρχουν είχε σου τόσο λίγο γίνει άλλο άλλοι άλλες πρώτη πρώτο λοιπόν αφού όλους
        δηλαδή τέλος άλλη πλέον άλλα έκανε μάλιστα πάντα πολλά ακόμη πολλές μπορούν γι εκ εν έως
        τέτοια τέτοιο μιας μπορείτε πίσω παρακάτω παραπάνω άλλος κανείς μπορούσε δυο έχουμε έχετε
        έχεις πάλι φορά φορές χρόνια μεγάλη μεγάλο κάνει τελευταία τελευταίους νέο καλά καλή πω
        στιγμή τέσσερις πέντε τρία ακριβώς δυστυχώς φυσικά χθες αύριο ίδιες ίδιοι πολλοί λίγα τίποτα
        κανένας καμία κάποιοι κάποιον κατ μετ ποιοι ποιες όσον όσες εκείνοι εκείνες ήμουν είμαστε
        είχαν είχα θέλουν θέλει εξής δεύτερη δεύτερο χρειάζεται βρίσκεται ώρα
        απ σ γίνεται έναν όσα
        δύο ακόμα μάλλον τρεις πιο κάποιες
        α αλλά αλλα αν από απο αυτά αυτές αυτή αυτήν αυτό αυτοί αυτός αυτού αυτούς αυτών για γιατί
        δε δεν διότι εάν εγώ εδώ είμαι είναι είστε εις εκεί εκείνα εκείνη εκείνο εκείνος εμάς εμείς
        ένα έναν ένας ενός ενώ επί επίσης εσείς έτσι ετσι έχει έχουν έχω η ήδη ήταν θα ίδια ίδιο ίδιος
        ίσως και κάθε καθώς και κάποια κάποιο κάποιος κάτι κατά κι κυρίως λόγω μα μας μαζί με μέσα μετά
        μεταξύ μέχρι μη μην μια μία μόνο μου μπορεί να ναι ο οι ό,τι όλα όλες όλη όλο όλοι όμως
        οποία οποίο οποίος οποίου οποίες όπου όπως όσο όσοι όταν ότι ού ούτε όχι πάνω παρά περί πια
        ποια ποιο ποιος πολύ ποτέ που πού πρέπει πριν προς πρώτα πως πώς σαν σας σε στα στη στην στης
        στις στο στον στου στους στων συν τα τη την της τι τις το τον του τους τότε τουλάχιστον των
        τώρα υπό υπάρχει χωρίς ως ώστε""",
    "ar": """تبدأ وجه
        جميع فى الآن مما بما مثل أحد حسب نحو أم تحت أجل أنه أنها بأن بدون ولو أمام عاما اكثر آخر يجب
        منهم قام قال وقال يقول يقوم أخرى الأخرى خاصة إضافة كله كلها ال عدد عبر ضمن لكل بينما إنه
        إنها وهذا فقد لأنه وغيرها نفس نفسه حين لدي عنه عنها معه لنا علينا عليك منك بهذا هؤلاء أولئك
        سوف ربما فقط لذلك اليوم بن
        هل واحد عليهم فإن لأن
        حول تقوم مجال عدم وذلك بشكل جدا
        في من على إلى الى عن مع هذا هذه ذلك تلك التي الذي الذين اللذين اللتي ما ماذا لا لم لن إن
        أن ان كان كانت كانوا يكون تكون هو هي هم هن نحن أنا انا أنت انت كل بعض بين قد لقد ثم أو او و
        ف حتى إذا اذا لو لكن ولكن بل عند عندما حيث كما منذ بعد قبل خلال أي اي غير سوى ليس ليست هناك
        هنا به بها له لها لهم فيه فيها منه منها عليه عليها إليه إليها ومن وفي على وعلى وأن وقد وهو وهي
        وكان ولا وما كذلك أيضا ايضا يوم عام أما اما الا إلا أكثر ذات دون تم يتم يمكن لدى ضد كيف لماذا
        أين متى""",
    "fa": """نماید بخشی
        توسط عنوان داده صورت می‌توان گرفت بیشتر سه بودند گرفته داشته دارای شامل بوده‌است آمد داد بار
        مانند تنها طور اول آنان یعنی سر حال زیادی می‌دهد نمود شدند دوم می‌تواند میان اکنون برخی
        آن‌ها می‌شوند سپس هیچ همچنین چندین جمله به‌عنوان نخست نخستین اولین وجود انجام طریق کنار
        نمی‌کند می‌کنیم کرده‌است شده‌اند بوده‌اند دارم داریم هستم هستیم نیستند نباید شاید گاهی آنجا
        اینجا کجا چرا چگونه کدام زمان روز ماه
        شده‌است قرار مورد یکی دو نام یکی می‌باشد گفت سوی
        از با به در را که و این آن است بود شد شده می نمی خود ما شما آنها او من تو تا بر برای هم
        هر یک یا اما اگر چه چون نیز پس پیش بین همه همین همان دیگر باید شود کند کرد کرده کنند کنید
        دارد دارند داشت هست هستند نیست بوده باشد باشند خواهد های ها ای ترین تر آیا ولی بسیار بعد
        زیرا بدون روی زیر چند چنین وی ایشان کنم کنیم می‌شود می‌کند می‌کنند نمی‌شود شدن کردن سال""",
    "hi": """आय चल दिखाई देखने पता
        पहले किसी आज उसे उन्हें बार मुझे उन्होंने लेकर हर रूप इसलिए करती ऐसा कई यहां आने मैंने अभी
        बना करके खुद इसे अन्य हूं हूँ आपको मिल दोनों पास जिस केवल कभी यही सबसे इससे अधिक वो जाएगा
        देने लगे किए दौरान भर इसी वही काफी आगे वहां सिर्फ जाना आये अनुसार सा हू शायद तरफ देना हमारी
        आया आदि जहां हों होना जिससे थीं बीच उसमें होगी लग उससे चारों चार प्रति बारे नए जारी दें उसने
        इतना पाया विभिन्न कम समय दिन साल जी ठीक लगता तीन मिला बताया पूरी प्रकार श्री होकर भरा अन्यथा
        तहत जिन जिसे जिसके जिसकी जिनके किन्तु बल्कि ताकि चाहे आपकी हमें तुम्हें इन्हें इन्होंने कौन
        कितना कितने कैसी जैसा जैसी वैसा यानी बिना ऊपर नीचे अंदर बाहर बड़ा
        कहा नाम दिनों
        होगा लगा कहते जाए ज्यादा शुरू वहीं गयी हुये दो यदि क्योंकि
        का की के को है हैं था थी थे में से पर और या यह वह ये वे इस उस इन उन एक भी ही तो कि जो जब
        तब कब क्या क्यों कैसे कहाँ जहाँ वहाँ यहाँ कर करना करने किया करता करते करें हो होता होती होते
        होने हुआ हुई हुए गया गई गए रहा रही रहे जा जाता जाती जाते जाने दिया दी दे लिए लिये लिया ले
        ने मैं मेरा मेरे मेरी हम हमारे हमारा तुम आप आपके आपका अपने अपना अपनी उसके उसकी उसका इसके इसकी
        इसका उनके उनकी उनका इनके कुछ कोई सब सभी बहुत अब फिर साथ बाद तक नहीं न मत ना अगर लेकिन मगर
        परन्तु तथा एवं वाले वाली वाला द्वारा सकता सकते सकती चाहिए जैसे ऐसे वैसे बात तरह ओर""",
    "ko": """되고 아닌 갖는 가진 있을지 정작
        이날 등을 등의 등이 등은 경우 모두 이에 관련 아니라 현재 이어 것이라고 것이라는 놓고 받은 않은 따르면 있던 당시 대해서는 동안 않고 보고 앞으로 있지만 비해
        자신이 받고 이들은 한편 이라며 있다는 이는 물론 너무 앞서 하나 못하고 못하는 같다 어차피 적지 명의 여러 이제 아직 이미 자신의 자신 그들 우리의 이를 그를 이와
        그러면 따라서 만약 비록 하지 않는 않을 않다 라고 이라고 라는 이라는 같이 처럼 보다 때문 이르는 겪고 이들 지난해 올해 내년 오후 오전
        있을 것이다 있었다 없이 같은 다른
        것으로 말했다 최근 특히 것은 것이 것을 대해서 이후 가운데 지난 이번 밝혔다 그는 한다는 있다고
        그 이 저 것 수 등 및 또는 그리고 그러나 하지만 그래서 때문에 위해 위한 대한 대해 통해 따라
        있는 있다 있습니다 있으며 있어 없는 없다 하는 하고 한다 합니다 했다 하여 해서 되는 된다 됩니다
        되어 됐다 이다 입니다 이런 그런 저런 어떤 모든 각 더 가장 매우 많은 많이 또 또한 다시 바로 더욱
        나는 내가 나의 우리 우리는 우리가 당신 그는 그가 그녀 그의 그것 이것 저것 여기 거기 함께 위에
        에서 부터 까지 에게 으로 로 은 는 을 를 의 에 와 과 도 만 년 월 일 할 한 안 못 잘 좀 중 후""",
    "vi": """gây xảy
        khác nay quá bên trở lớn thường đối hiện bao lẽ nhiêu hẳn dù luôn mới cách khá hết ngay lần
        thấy nói hôm từng riêng chính cứ lắm đừng vừa sắp kể song thêm gần đủ số
        công thể đầu điều thành hai vẫn lúc
        và của là có cho các những một được trong với không này đó khi để người từ như đã sẽ đang
        cũng về ra vào lại trên dưới đến thì mà ở tại bị do bởi nên nếu vì sau trước hay hoặc còn chỉ
        rất nhiều ít hơn nhất tôi bạn anh chị em ông bà chúng ta họ nó mình ai gì nào đâu sao thế rồi
        nữa mỗi mọi cả việc theo qua giữa ngoài lên xuống đi phải cần muốn biết làm nhưng tuy năm
        ngày con cái chiếc sự bằng cùng đây kia ấy vậy chưa đều vẫn""",
    "id": """akhirnya keduanya menimbulkan datang
        kemudian saja ternyata baru demikian segera apakah lain sama bahkan memang meskipun baik
        kedua kali apa berada pernah waktu mempunyai kalian mungkin sendiri sedang sementara
        justru tak lainnya tentu hampir apalagi semakin langsung pertama pula maupun mana bagaimana
        melalui terdapat sebelumnya sedangkan sesuai menurut sekarang cukup masing paling termasuk
        luar kau diri dirinya bersama itupun masa lama tiga empat lima kembali besar kecil saling
        kecuali walaupun bagian terjadi ki tengah membuat memberikan melakukan
        seorang mulai memiliki sebuah suatu satu dua para
        yang dan di ke dari untuk dengan pada adalah ini itu dalam tidak akan juga atau oleh sebagai
        ada bisa dapat lebih karena seperti telah sudah belum saya aku kamu anda dia ia mereka kami
        kita tersebut saat ketika jika kalau maka agar supaya namun tetapi tapi hanya masih sangat
        sekali lagi pun bagi antara secara atas bawah setelah sebelum sehingga bahwa semua setiap
        para sang si nya itu begitu banyak beberapa hal cara harus ingin mau bukan jangan kepada
        terhadap tentang sampai hingga sejak selama serta dll yaitu yakni adanya menjadi merupakan
        dilakukan orang tahun hari""",
    "ca": """es d'un d'una ara part sempre s'ha d'aquesta d'aquest mateix mateixa mateixos mai seran
        tenir diferents gran nou nova bé través qualsevol d'altres dir mig millor bona bon dia dies
        cas manera resta veure hora seues temps donar
        més dos tres primera primer
        a abans això al algun alguna alguns als altra altre altres amb any anys aquell aquella
        aquells aquest aquesta aquestes aquests aquí així cada cap com contra cal cinc d dalt
        darrer de del dels des després dins doncs dos dues durant e el ell ella elles ells els
        em en encara ens entre era eren és esta està estan estat estava et etc fa fan fer fet fins
        fou gairebé ha han has hem havia haver hi ho i ja jo l la les li llavors lloc lo me menys meu
        meva mentre meus meves molt molta moltes molts mon n na ni no nosaltres nostra nostre nostres
        només o on pel pels per perquè però poc pot poden potser primer qual quals quan quant que què
        qui quin quina s sa se segons sense ser serà seu seus seva seves si sí sigui sobre som
        sota sóc són t també tan tant te tenen teva té tot tota totes tots tothom tu un una unes
        uns us va van vaig vam vegada vers vosaltres vostra vostre""",
}  # fmt: skip


# Often written without accents: "si" for "și", "pana" for "până".
UNACCENTED = frozenset(("ca", "cs", "es", "fr", "hu", "it", "pl", "pt", "ro", "tr"))


def without_accents(word: str) -> str:
    return "".join(c for c in normalize("NFD", word) if not combining(c)).replace("ł", "l")


def stop_languages() -> list[str]:
    """The codes of the languages that have a list.

    >>> "de" in stop_languages(), len(stop_languages())
    (True, 26)
    """
    return sorted({*LISTS, "en"})


@cache
def stop_list(language: str) -> frozenset[str]:
    """The function words of a language, in lower case; for English also common words with
    little meaning of their own, months and numerals.

    >>> "der" in stop_list("de"), "war" in stop_list("en"), "said" in stop_list("en")
    (True, False, True)
    """
    from importlib.resources import files

    words = set(LISTS.get(language, "").split())
    if language == "en":
        words |= ENGLISH | LIGHT
    short = files("tacit.classify") / "lists" / "languages" / f"{language}.txt"
    if short.is_file():
        listed = short.read_text(encoding="utf-8").splitlines()
        words |= {line.strip() for line in listed if line.strip() and not line.startswith("#")}
    if language in UNACCENTED:
        words |= {without_accents(word) for word in words}
    return frozenset(words)
