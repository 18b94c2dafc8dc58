/** Verifies a signature of AWS (SigV4), written from its description alone: docs.aws.amazon.com/IAM, "Create a signed AWS API request". */
import { createHash, createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

interface Received {
  method: string
  /** As it stood in the request line. */
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()

/** @returns why the signature does not hold; undefined where it does */
export function signatureFault(
  { method, url, headers, body }: Received,
  { id, secret, region, service }: Record<'id' | 'secret' | 'region' | 'service', string>
): string | undefined {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/
  const found = form.exec(headers.authorization ?? '')
  if (found === null) return 'no signature'
  const [, givenId, day, givenRegion, givenService, names, signature] = found as unknown as string[]
  if (givenId !== id || givenRegion !== region || givenService !== service) return 'another scope'
  const date = String(headers['x-amz-date'])
  if (!date.startsWith(day!) || Math.abs(Date.now() - Date.parse(iso(date))) > 300_000) return 'another time'
  const signed = names!.split(';')
  for (const name of Object.keys(headers)) {
    if ((name === 'host' || name.startsWith('x-amz-')) && !signed.includes(name)) return `${name} is not signed`
  }
  if (headers['x-amz-content-sha256'] !== sha256(body)) return 'another body'
  const [path, query = ''] = url.split('?') as [string, string?]
  const canonical = [
    method,
    // Each segment is encoded once more, as for every service but S3.
    path.split('/').map(encodeURIComponent).join('/'),
    query.split('&').sort().join('&'),
    ...signed.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    names,
    sha256(body)
  ].join('\n')
  const scope = `${day}/${region}/${service}/aws4_request`
  const key = [region, service, 'aws4_request'].reduce((made, part) => hmac(made, part), hmac(`AWS4${secret}`, day!))
  const expected = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')).toString('hex')
  return expected === signature ? undefined : 'another signature'
}

function iso(date: string): string {
  return date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
}
