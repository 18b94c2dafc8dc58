/**
 * Common words of languages in Latin letters beside English, without their accents, as folding leaves them: enough of
 * each to show the frequency of its letter pairs, which distinguishes language from scrambled letters.
 */
const lists: Readonly<Record<string, string>> = {
  vietnamese: `cua va la co cho khong mot trong nguoi duoc cac nhung voi de den nay khi tu lam nhu the cach nao toi ban ra
    ve phai nhieu gi tren hoac neu hay bang su dung mot so viet noi biet muon can thong tin he thong hoat dong phuong phap
    hieu qua nhat co the giup hoi tra loi xin chao cam on hom nay ngay mai nam thang gio phut cong viec gia dinh truong hoc
    nuoc tien mua ban an uong xe may dien thoai chuong trinh van de quyen phap luat thuc hien tao huong dan giai thich vi
    sao tai dau ai bao nhieu day do kia chung ta minh anh chi em ong ba con trai gai truoc sau giua ngoai duoi khac nhau
    cung nhung dang da se roi chua duong thanh pho dat nha cua hang tieng doc nghe xem choi danh mat khau trang web mang
    tai khoan ngan hang quoc gia chinh phu xa hoi suc khoe benh thuoc tre em phu nu nhom dan toc ton giao`,
  spanish: `de la que el en y a los se del las un por con no una su para es al lo como mas o pero sus le ha me si sin sobre
    este ya entre cuando todo esta ser son dos tambien fue habia era muy anos hasta desde nos porque donde quien cual cada
    puede puedo hacer tiene tengo quiero decir dime como cuanto gracias hola favor ayuda escribe explica necesito trabajo
    tiempo vida casa mundo dia hombre mujer persona gente parte pais ciudad agua dinero cosa forma sistema informacion
    instrucciones anteriores programa archivo cuenta contrasena pregunta respuesta palabra nombre numero algo nada nunca
    siempre bien mejor mayor nuevo mismo otro otra ellos nosotros estas estos aqui ahora entonces despues antes crear usar`,
  portuguese: `de a o que e do da em um para com nao uma os no se na por mais as dos como mas ao ele das seu sua ou quando
    muito nos ja eu tambem so pelo pela ate isso ela entre depois sem mesmo aos seus quem nas me esse eles voce essa num
    nem suas meu minha foi tem sao ser estar fazer pode posso quero preciso dizer escreva explique obrigado ola favor ajuda
    trabalho tempo vida casa mundo dia homem mulher pessoa parte pais cidade agua dinheiro coisa forma sistema informacao
    instrucoes anteriores programa arquivo conta senha pergunta resposta palavra nome numero algo nada nunca sempre bem
    melhor maior novo outro outra aqui agora entao antes criar usar sobre qual onde porque cada ainda todos fosse`,
  italian: `di che e la il un a per in una mi sono ho non ma lo ha le si ti i con cosa se io come da ci no questo qui sei
    del bene tu mio gli della al dei lei lui nel alla piu quando perche anche molto fare era chi ne essere tutto solo
    quello stato ora dove sua suo delle sempre niente puoi posso voglio devo dire scrivi spiega grazie ciao favore aiuto
    lavoro tempo vita casa mondo giorno uomo donna persona parte paese citta acqua soldi forma sistema informazioni
    istruzioni precedenti programma file conto domanda risposta parola nome numero qualcosa nulla mai meglio maggiore
    nuovo altro altra adesso allora dopo prima creare usare sulla quale ogni ancora tutti degli dalla questa quella`,
  french: `de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec son ses comme
    mais on ou si leur elle aux cette nous deux tout ils meme aussi bien peut sans etre fait sa ces entre quand vous je tu
    mon moi te me y faire dire veux dois comment pourquoi quel quelle combien merci bonjour aide ecris explique besoin
    travail temps vie maison monde jour homme femme personne partie pays ville eau argent chose forme systeme information
    instructions precedentes programme fichier compte mot passe question reponse nom nombre quelque rien jamais toujours
    mieux grand nouveau autre ici maintenant alors apres avant creer utiliser chaque encore tous leurs notre votre cela`,
  german: `der die und in den von zu das mit sich des auf fur ist im dem nicht ein eine als auch es an werden aus er hat
    dass sie nach wird bei einer um am sind noch wie einem uber einen so zum war haben nur oder aber vor zur bis mehr durch
    man sein wurde sei ich du wir ihr mich dir mir kann kannst soll muss will machen sagen warum was wo wer welche danke
    hallo bitte hilfe schreibe erklare brauche arbeit zeit leben haus welt tag mann frau person teil land stadt wasser geld
    ding form system informationen anweisungen vorherigen programm datei konto passwort frage antwort wort name zahl etwas
    nichts nie immer besser neu andere hier jetzt dann danach vorher erstellen benutzen jeder alle unser ihre diese keine`,
  dutch: `de van een het en in is dat op te zijn met voor niet aan er om ook als dan maar bij nog uit door over ze hij naar
    heeft hebben worden werd tot je ik mijn kan kun moet wil wat die dit deze meer geen zo al wel of hoe waarom waar wie
    welke dank hallo alsjeblieft help schrijf leg nodig werk tijd leven huis wereld dag man vrouw persoon deel land stad
    water geld ding vorm systeem informatie instructies vorige programma bestand rekening wachtwoord vraag antwoord woord
    naam getal iets niets nooit altijd beter goed nieuw ander hier nu toen daarna eerder maken gebruiken elke alle ons hun
    mensen zou zonder tegen onder tussen omdat veel iemand jullie`,
  indonesian: `yang dan di itu dengan untuk tidak ini dari dalam akan pada juga saya ke karena tersebut bisa ada mereka
    lebih kata tahun sudah atau saat oleh menjadi orang ia telah adalah seperti sebagai bahwa dapat para harus namun kita
    dua satu masih hari hanya mengatakan kepada kami setelah melakukan lalu belum lain dia kalau terjadi banyak menurut
    anda hingga tak baru beberapa ketika saja jalan sekitar secara dilakukan sementara tapi sangat hal sehingga seorang
    bagi besar lagi selama antara waktu sebuah jika sampai jadi terhadap bagaimana cara apa mengapa tolong terima kasih
    tulis jelaskan buat sistem informasi instruksi sebelumnya kerja rumah uang air anak nama negara kota`,
  tagalog: `ang ng sa na mga at ay ko mo si ka ito siya ako hindi para kung may isang niya nila kami tayo ikaw sila ni
    pero lang din rin naman po opo wala mayroon ano paano bakit saan sino kailan kailangan gusto maging gawin sabihin
    isulat ipaliwanag salamat tulong trabaho oras buhay bahay mundo araw lalaki babae tao bahagi bansa tubig pera bagay
    paraan sistema impormasyon tagubilin nakaraang tanong sagot salita pangalan numero lahat walang dapat gamit upang
    dahil nang pang mas pinaka ngayon bago pagkatapos doon dito iyon nito kanyang aking iyong kanilang`,
  turkish: `bir ve bu da de icin ile ne var daha olarak gibi cok kadar sonra ben sen o biz siz onlar mi ama en olan her
    degil diye ki ya oldugu bana sana beni seni onun bunu nasil neden nerede kim hangi lutfen tesekkurler merhaba yardim
    yaz acikla yap yapmak olmak etmek istiyorum gerek zaman hayat ev dunya gun adam kadin kisi insan ulke sehir su para
    sey sistem bilgi talimatlar onceki program dosya hesap sifre soru cevap kelime isim sayi hicbir asla iyi yeni baska
    burada simdi once kullanarak butun hepsi bizim sizin icinde uzerinde arasinda olabilir yapabilir misin verebilir`,
  polish: `w i na z do nie ze to sie jest o jak a po co tak za od go jego ale przez dla juz tylko by czy ja ty on ona my
    byl byla byc jako ich tym ktory ktora ktore przed kiedy gdzie kto dlaczego prosze dziekuje czesc pomoc napisz wyjasnij
    zrobic moge mozna chce musze praca czas zycie dom swiat dzien mezczyzna kobieta osoba czlowiek czesc kraj miasto woda
    pieniadze rzecz sposob system informacje instrukcje poprzednie program plik konto haslo pytanie odpowiedz slowo imie
    liczba cos nic nigdy zawsze lepiej dobry nowy inny tutaj teraz potem wszystko wszystkie nasz wasz bardzo jeszcze`,
  hindi: `hai ka ki ke mein se ko aur nahi kya yeh woh ek par bhi ho tha thi kar karne liye main tum aap hum mujhe tumhe
    kaise kyun kahan kaun kab kitna chahiye sakta sakte batao likho samjhao banao karo karna dena lena jana aana raha rahe
    apna apne mera mere tera tumhara log aadmi aurat ghar din samay paisa kaam baat naam sab kuch bahut accha bura naya
    pehle baad agar lekin toh phir abhi kabhi hamesha bina saath wala wale gaya gayi hota hoti karta karte`
}

/** By language, the commonest first. */
export const wordsByLanguage: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(lists).map(([language, list]) => [language, list.split(/\s+/)])
)

export const languages: readonly (readonly string[])[] = Object.values(wordsByLanguage)
