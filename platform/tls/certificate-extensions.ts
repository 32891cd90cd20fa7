import type { X509Certificate } from 'node:crypto';

/** The extensions of a certificate that `X509Certificate` of Node does not tell. @see https://www.rfc-editor.org/rfc/rfc5280#section-4.2 */
export interface CertificateExtensions {
  /** True if a critical extension is not of RFC 5280: who does not know it must refuse the certificate. */
  readonly hasUnknownCritical: boolean;
  /** True if the key may sign a handshake (digital signature or key agreement), and without the extension. */
  readonly signsHandshakes: boolean;
  /** The maximum number of authorities below this one; Infinity without a limit. */
  readonly maxAuthoritiesBelow: number;
}

/** The object identifiers of RFC 5280 begin with 2.5.29. The last byte is the key. */
const arc = '551d';
const keyUsage = `${arc}0f`;
const basicConstraints = `${arc}13`;
/** Subject alternative name, CRL distribution points, name constraints, policies, extended key usage and so on. */
const known: ReadonlySet<string> = new Set(
  ['0f', '11', '13', '1e', '1f', '20', '21', '24', '25', '36'].map((last) => `${arc}${last}`),
);

const tags = { boolean: 0x01, integer: 0x02, bitString: 0x03, octetString: 0x04, extensions: 0xa3 } as const;

/** Reads the extensions of a certificate. Throws a `RangeError` if its DER is cut off. */
export function extensionsOf(certificate: Pick<X509Certificate, 'raw'>): CertificateExtensions {
  const [whole] = elementsOf(certificate.raw);
  const [signed] = elementsOf(bodyOf(whole));
  const wrapper = elementsOf(bodyOf(signed)).find(({ tag }) => tag === tags.extensions);
  const list = wrapper === undefined ? [] : elementsOf(bodyOf(elementsOf(wrapper.body)[0]));
  let found: CertificateExtensions = {
    hasUnknownCritical: false,
    signsHandshakes: true,
    maxAuthoritiesBelow: Infinity,
  };
  for (const extension of list) {
    const [id, ...rest] = elementsOf(extension.body);
    const oid = bodyOf(id).toString('hex');
    const isCritical = rest.some(({ tag, body }) => tag === tags.boolean && body[0] !== 0);
    const value = bodyOf(rest.find(({ tag }) => tag === tags.octetString));
    if (isCritical && !known.has(oid)) found = { ...found, hasUnknownCritical: true };
    if (oid === keyUsage) found = { ...found, signsHandshakes: signsHandshakes(value) };
    if (oid === basicConstraints) found = { ...found, maxAuthoritiesBelow: pathLength(value) };
  }
  return found;
}

function signsHandshakes(value: Buffer): boolean {
  // The first byte of a bit string is the number of unused bits.
  const bits = bodyOf(elementsOf(value).find(({ tag }) => tag === tags.bitString))[1] ?? 0;
  const [digitalSignature, keyAgreement] = [0x80, 0x08];
  return (bits & (digitalSignature | keyAgreement)) !== 0;
}

function pathLength(value: Buffer): number {
  const limit = elementsOf(bodyOf(elementsOf(value)[0])).find(({ tag }) => tag === tags.integer);
  return limit === undefined ? Infinity : limit.body.readIntBE(0, Math.min(limit.body.length, 6));
}

interface Element {
  readonly tag: number;
  readonly body: Buffer;
}

function bodyOf(element: Element | undefined): Buffer {
  if (element === undefined) throw new RangeError('the certificate lacks an element');
  return element.body;
}

/** Returns the elements of DER one after the other. Certificates have tags of one byte. */
function elementsOf(der: Buffer): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < der.length;) {
    const tag = der.readUInt8(at);
    const short = der.readUInt8(at + 1);
    const lengthBytes = short < 0x80 ? 0 : short - 0x80;
    const start = at + 2 + lengthBytes;
    const length = lengthBytes === 0 ? short : der.readUIntBE(at + 2, lengthBytes);
    if (start + length > der.length) throw new RangeError('the certificate is cut off');
    found.push({ tag, body: der.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}
