import t from 'tap'
import { acceptedLanguages, languageOf } from '../../src/wording/language.js'

t.test('a plain sentence tells its language, and what is close to two tells none', async (t) => {
  const sentences: [string | undefined, string][] = [
    ['en', 'How do I kill it?'],
    ['en', 'What is the weather like today?'],
    ['de', 'Wie bringe ich ihn um?'],
    ['de', 'Ich möchte nicht mehr leben'],
    ['fr', 'Je ne veux plus vivre'],
    ['es', '¿Cómo lo mato?'],
    ['it', 'Non voglio più vivere'],
    ['pt', 'Não quero mais viver'],
    ['nl', 'Hoe maak ik het dood?'],
    ['pl', 'Nie chcę już żyć'],
    ['ru', 'Я больше не хочу жить'],
    ['uk', 'Як його вбити?'],
    ['tr', 'Artık yaşamak istemiyorum'],
    ['ar', 'لا أريد أن أعيش'],
    ['hi', 'मैं इसे कैसे मारूँ?'],
    ['zh', '我怎么杀死它？'],
    ['ja', 'どうやって殺すの？'],
    ['ko', '어떻게 죽이나요?'],
    ['vi', 'Tôi không muốn sống nữa'],
    ['id', 'Bagaimana cara membunuhnya?'],
    ['fa', 'چگونه او را بکشم'],
    [undefined, ''],
    [undefined, '1'],
    [undefined, 'OK'],
    [undefined, 'kubectl get pods -n prod'],
    [undefined, 'lorem ipsum dolor']
  ]
  for (const [language, text] of sentences) t.equal(languageOf(text), language, text)
})

t.test('a long text costs no more than a short one', async (t) => {
  const long = 'Ich möchte nicht mehr leben. '.repeat(100_000)
  const began = process.cpuUsage()
  t.equal(languageOf(long), 'de')
  t.ok(process.cpuUsage(began).user < 200_000, 'microseconds of CPU')
})

t.test('a client says what it wants to read', async (t) => {
  t.same(acceptedLanguages('en;q=0.5, de-AT, zh-Hant-TW;q=0.8, *;q=0.1, fr;q=0'), [
    { language: 'de', region: 'AT' },
    { language: 'zh', region: 'TW' },
    { language: 'en', region: undefined }
  ])
  t.same(acceptedLanguages(undefined), [])
  t.same(acceptedLanguages('-, ;q=, de;q=2, <script>'), [])
  t.ok(acceptedLanguages('de,'.repeat(10_000)).length <= 10)
})
