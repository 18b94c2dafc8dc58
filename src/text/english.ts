/**
 * Common words of English, by frequency. They distinguish decoded sentences from scrambled letters, and find the gaps
 * in joined words. A constitution adds the words of its phrases.
 */
export const englishWords: readonly string[] = `
  the to and of in you is for my that it what on are how can with all have me this as do be if an from your files not
  was he at up card but has there about find like they get current will need by or would many when one she just so
  more file who why does we his out their some please know been them now time each her list than should no make
  account new into money given much number which tell take did under any could want use first people name were these
  where am go long day change then see top help two write think last only explain its using transfer good got had
  tree other still after give days print search also made way going create home user function because right over work
  back being here say total most year set every really describe payment times our article world someone off said let
  him credit car before cash used regular well three those put something path between imagine code system same while
  even best display show look another string too information read through per word order us down charged next add pay
  life following man cost text check rate person left today white bank exchange such years sure yet ago hours come
  amount week without line group old numbers input names half takes based provide during start called script keep
  school call getting role never problem process second needs fee minutes talk may wrong again points phone twice
  love return working answer end point page trying both different great black bad named pin students might found very
  data real better yes things case play remove thanks sentence bill bought kind place city already high less main
  class date save buy since around game fact possible stop pending month table country house own little looking won
  full water cards lost job state book earth charge went having run eat oil says thought sum few movie example extra
  try human space advice making reason tried mean delete friends statement lot question words free declined american
  enough makes whose size big anything food actually count received red content hour books character source thing
  president post music song returns showing link calculate language always must send history travel suggest news dog
  party changed shell response program type plan though true ever able women doing turn key result nothing company
  else present dollars third wants feel virtual media part video friend move learning far away public told gets hate
  specific saying gas request side spent report correct men empty talking design rest share story seems entire limit
  permission everything age once social miles non within four done trip until john standard average level oh include
  description believe face least shopping asked simple email address convert instead flight gave hello value
  understand bit balance explanation log against either available steps ancient format replace message support idea
  sent meeting young cause maybe issue vacation took machine blue watch below night team benefits heard error facts
  spend unique test reservation product whether price score characters costs taking sort children store impact direct
  art running section wait recently health small hard starting exactly interest states identity america local cancel
  probably yeah fix soon international term family woman pieces sources piece girl normal five live open remember
  united improve method sorry came box copy anyone currently business paid sound past interested containing taken
  large science shows seen single wanted status mentioned gone pattern ask later short kill kids original room
  receive due everyone details guy thank tires certain complete apple title political provided looks head currency
  morning started thinking light funds girls contains online deposit field location match root student writing
  government care common together verify fees series paper policy power brief seem hear police works meaning course
  difference item son experience including often quite owner bullet separated insurance hand million weeks future
  yesterday hold english hope quick war recent length several coming flip required needed reads computer planet green
  plant hell important however happy games reading questions host excluding mind discovered clear comments office
  fine famous nice bring contents saw pretty added potential restaurant agree living area fat cat ones topic comment
  square edit film contain months playing weather earlier china couple double features yourself whole form letter
  increase modern behind reviews okay become rather math related tomorrow dinner concept longer schedule cannot bird
  countries discussion dogs hit review usually speech matter project worth split stolen guess remaining calling
  checking strings multiple daily cut air pages body tweet market mother users known others ingredients event results
  carry learn society sold problems sounds according low changes update self speed figure importance service
  historical sell stay deep waiting energy national balls feet leave subject guys bar primary above regarding express
  dead situation tax yellow environment control color positive fun latest negative weight removed column offer south
  salary accept funny sub terms ten safe wish walk race decided access interesting recommend except finds roll male
  comes written means tips guide players greater child expect visit shot law thoughts mention model ice listing
  target beat translate claim charges giving death cup bunch record reminder items identify follow uses false counts
  hotel significant study adding lead argument minimum humans application shop equal drive note period mark checked
  previous brown chase ending choose traveling values random joke personal battery minute development cars software
  finally track apply bus happened heads version sense bag gives issues document summary shut option maximum france
  task special programming analysis range planning via pick chicken win building along coffee hair general milk
  century brother prefer close hidden compare hot deal research pair sick town noticed television popular created
  vote eating reasons fish animals build opinion rule events understanding attention king liberal season easy style
  customer traffic types ideas middle action ball born ways budget training species visiting additional image block
  birds watching inches paint myself tickets election physical filled break allowed strong older culture bin birthday
  reverse rules friendly considering requested checks suggestions systems foreign park rent affect network rewrite
  savings enjoy speak ordered creating keeps novel explaining distance female immediately extract star across
  reported shoes processes step major spending station jump lists stuff early purpose garden summarize consider
  arrived plants evidence failed allow odd clearly wonder supposed stand seconds throw setting fake fight knowledge
  painting approach asking blocked pass among levels fire fall further fair cats usage skills natural meet belong
  voice solve happens tonight studying bags changing diet campaign bread die blocks parents fashion base healthy
  sleep seeing attack community sister animal discuss wife sequence pets determine develop respond exercise knows
  appropriate members intelligence holiday cover begin himself stock killed pain north financial included rates eggs
  income europe options quality described brought lives documents missing view weekend blog capital fill decides
  images posted conversation cook pressure reference object plus looked likely interview happen road busy wrote
  movies unless groups mail delivered climate gun profit cups appears pound blood curious almost removes beginning
  moment broke higher considered environmental cool heart phrase author screen sometimes themselves train listen
  plans huge respect colored act percent release listed meant ready internet otherwise join favorite involved
  professional messages anymore chocolate leader expected typical worked percentage largest detailed various basic
  security speaking keeping fuel sports eats rights volume especially baby definitely necessary turned ran street
  member candy feeling smart accepted whatever combined factory places jobs differences industry leading itself rock
  generate incorrect meetings perfect performance moved teacher pull protect private sad decide actual press
  particular straight mouth americans reach led site artificial alone completely candidates temperature wall broken
  saves ahead fit complex biggest remote editor located mental sales cold helpful federal drink tired perform proper
  longest land category late education switch expression goal purchased likes near forward shots faster models
  everybody reality wearing background paying owned ticket
`
  .trim()
  .split(/\s+/)

const longest = 15

/** Per first, second and last letter one bit for each length. 64 KiB. */
const shapes = new Uint16Array(1 << 15)
for (const word of englishWords) {
  if (word.length > longest) continue
  shapes[shapeOf(word.charCodeAt(0), word.charCodeAt(1), word.charCodeAt(word.length - 1))]! |= 1 << word.length
}

function shapeOf(first: number, second: number, last: number): number {
  return ((first & 31) << 10) | ((second & 31) << 5) | (last & 31)
}

/**
 * Whether a word looks like a common one of English, by its first two letters, its last and its length: four in five words
 * of prose do, and one in a hundred words whose letters were swapped.
 * @returns 1 or 0, for a word of two and more ASCII letters
 */
export function commonShape(units: Uint16Array, from: number, to: number): number {
  return (shapes[shapeOf(units[from]!, units[from + 1]!, units[to - 1]!)]! >> (to - from)) & 1
}
