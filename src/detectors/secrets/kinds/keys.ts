/** Private keys without the lines around them: what their bytes begin with, in base64 (RFC 5208, 5915, 8017, 8410; OpenSSH). */
import { issuer, type Row } from './row.js'

const rest = '<40-16384 padded>'
const documented = 'https://www.rfc-editor.org/rfc/rfc7468'

export const keys: readonly Row[] = issuer(
  'PEM and DER',
  documented,
  // RSA, as PKCS #1 and as PKCS #8.
  ['private_key', `MII<3 base64>IBAAKC${rest}`],
  ['private_key', `MII<3 base64>IBAAKB${rest}`],
  ['private_key', `MII<3 base64>IBADANBgkqhkiG9w0BAQEF${rest}`],
  // Elliptic curves: P-256, P-384, P-521 by themselves and as PKCS #8; Ed25519 and X25519.
  ['private_key', `MHcCAQEEI${rest}`],
  ['private_key', `MIGkAgEBBDA${rest}`],
  ['private_key', `MIHcAgEBBEI${rest}`],
  ['private_key', `MIGHAgEAMBMGByqGSM49AgEG${rest}`],
  ['private_key', `MIG2AgEAMBAGByqGSM49AgEG${rest}`],
  ['private_key', `MIHuAgEAMBAGByqGSM49AgEG${rest}`],
  ['private_key', 'MC4CAQAwBQYDK2VwBCIEI<43-48 padded>'],
  ['private_key', 'MC4CAQAwBQYDK2VuBCIEI<43-48 padded>'],
  ['private_key', `b3BlbnNzaC1rZXktdjEA${rest}`],
  // `-----BEGIN … PRIVATE KEY-----` in base64 once more.
  ['private_key', `LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0t${rest}`],
  ['private_key', `LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVkt${rest}`],
  ['private_key', `LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0t${rest}`],
  ['private_key', `LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUgS0VZ${rest}`],
  ['private_key', `LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURSBLRVkt${rest}`]
)
