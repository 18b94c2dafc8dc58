/** Numbers of passports and driving licences, which have no check digit outside the machine-readable zone. */
import { edge, type National } from './row.js'

const digitsOf = (id: string) => id.match(/\d/g)?.length ?? 0

export const documents: readonly National[] = [
  {
    kind: 'passport',
    // Two letters and seven digits, nine digits, one letter in the middle … ; Germany's have no vowels.
    shape: edge(
      '[A-Z]{0,3}[ -]?\\d{6,9}[A-Z]?|[A-Z]\\d[A-Z\\d]\\d{6}|[CFGHJKLMNPRTVWXYZ\\d]{9}|\\d{2} ?\\d{2} \\d{6}',
      'gi'
    ),
    valid: (id) => digitsOf(id) >= 3,
    confidence: 0.8,
    near: 'passport*|reisepass*|pasaporte*|passeport*|passaport*|paspoort*|paszport*|passnummer|pasaport*|cestovní pas|паспорт*|护照|旅券|여권|جواز*'
  },
  {
    kind: 'driving_licence',
    shape: edge('(?=[A-Z]{0,5}\\d)[A-Z\\d]{1,18}(?:[ -](?=[A-Z]{0,3}\\d)[A-Z\\d]{2,8}){0,3}', 'gi'),
    valid: (id) => digitsOf(id) >= 5 && id.length >= 6 && id.length <= 18,
    confidence: 0.8,
    near: "driver's licen*|drivers licen*|driver licen*|driver’s licen*|driving licen*|driver's, licen*|dl|dln|licence no|license no|licence number|license number|licence #|license #|führerschein*|permis de conduire|licencia de condu*|permiso de condu*|carné de condu*|patente di guida|carta de condu*|rijbewijs*|prawo jazdy|körkort*|førerkort*|kørekort*|ajokort*|водительск*|運転免許|驾驶证"
  }
]
