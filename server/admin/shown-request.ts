import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { redactText } from '../../platform/redact-secrets.ts';

const hidden = '[redacted]';

/** Keys of SSE-C, cookies and session tokens. */
const secretHeader = /cookie|security-token|session-token|customer-key|password|secret/i;

/** Names of parameters, of signed URLs and of STS alike, whose values let somebody in. */
const secretParameter = /signature|token|password|secret|customer-key|^code$/i;

/** Headers as a trace shows them: each with all its values, and none that lets anybody in. */
export function shownHeaders(headers: IncomingHttpHeaders | OutgoingHttpHeaders): Record<string, readonly string[]> {
  const shown: Record<string, readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    shown[name] = [value].flat().map((one) => shownHeader(name, String(one)));
  }
  return shown;
}

function shownHeader(name: string, value: string): string {
  if (name.toLowerCase() === 'authorization') {
    // Whose signature, and over which headers, is what one looks for; of other schemes all is secret.
    return value.startsWith('AWS4-HMAC-SHA256 ') ? value.replace(/Signature=[^,\s]*/i, `Signature=${hidden}`) : hidden;
  }
  return secretHeader.test(name) ? hidden : redactText(value);
}

/** A query as it came, without the values of secret parameters. */
export function shownQuery(rawQuery: string): string {
  if (rawQuery === '') return '';
  return rawQuery
    .split('&')
    .map((part) => {
      const name = part.split('=', 1)[0] ?? '';
      return part.includes('=') && secretParameter.test(plain(name)) ? `${name}=${hidden}` : part;
    })
    .join('&');
}

function plain(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}
