import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readForwardedCertificates } from './caller.ts';

describe('the header of a TLS proxy', () => {
  it('of any text gives certificates or nothing, and no failure', () => {
    const block = fc
      .base64String({ maxLength: 400 })
      .map((text) => encodeURIComponent(`-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          block,
          fc.array(block).map((all) => all.join('')),
        ),
        (header) => {
          expect(readForwardedCertificates(header) ?? []).toHaveLength(0);
        },
      ),
    );
  });
});
