import { describe, expect, it } from 'vitest';
import { renderKeyService, renderUncheckedKeyService } from '../../operator/render/render-key-service.ts';
import { renderTenant, renderUnchecked } from '../../operator/render/render-tenant.ts';
import { refusedKeyServices, refusedStarts, type RefusedStart } from '../support/operator/refused-starts.ts';
import { startRendered } from '../support/operator/rendered-server.ts';
import { context, issue, kms, tenant } from '../support/operator/render-cases.ts';

// One table: what ends the start of a real server, and what the operator says of it before a pod is touched.

const parts = { providers: [], rootSecret: 'demo-root-credentials' };

function startOf({ spec, secrets }: RefusedStart) {
  // What a Secret holds is refused before the server is rendered, so the server is rendered of others.
  const placeholders = Object.entries(secrets ?? {}).map(([name, data]) => [
    name,
    Object.fromEntries(Object.keys(data).map((key) => [key, 'placeholder'])),
  ]);
  const rendered = renderUnchecked(tenant(spec), parts, context(Object.fromEntries(placeholders) as typeof secrets));
  return startRendered(rendered, context(secrets).secrets);
}

describe('what ends the start of a key service', () => {
  it.each(refusedKeyServices)('$title: is refused before a pod is touched', ({ spec, secrets, message }) => {
    expect(issue(() => renderKeyService(kms(spec), [], context(secrets)))).toMatch(message);
  });

  it.each(refusedKeyServices)('$title: does end the start of a real one', async ({ spec, secrets }) => {
    const given = context(secrets);
    const { kind, output } = await startRendered(renderUncheckedKeyService(kms(spec), [], given), given.secrets);
    expect(kind, output).toBe('ended');
    // The file, or the setting in it.
    expect(output).toMatch(/keysvc\.yaml|keystore\./);
  });

  it('is nothing of a KMSConfig as it comes', () => {
    expect(() => renderKeyService(kms(), [], context())).not.toThrow();
  });

  it('is a key file of Google that is none, which its library would not name', () => {
    const spec = { keystore: { gcp: { projectId: 'p', credentialsSecretRef: { name: 'gcp', key: 'key.json' } } } };
    const text = issue(() => renderKeyService(kms(spec), [], context({ gcp: { 'key.json': 'no JSON' } })));
    expect(text).toContain('key.json of the Secret gcp is not the key file');
  });
});

describe('what ends the start of a server', () => {
  it.each(refusedStarts)('$title: is refused before a pod is touched', ({ spec, secrets, message }) => {
    expect(issue(() => renderTenant(tenant(spec), parts, context(secrets)))).toMatch(message);
  });

  it('does end the start of a real one', async () => {
    const survivors: string[] = [];
    const rows = [...refusedStarts];
    const next = async (): Promise<void> => {
      for (let row = rows.shift(); row !== undefined; row = rows.shift()) {
        const { kind, output } = await startOf(row);
        if (kind !== 'ended') survivors.push(`${row.title}: it ${kind}: ${output.slice(-500)}`);
      }
    };
    await Promise.all([next(), next()]);
    expect(survivors).toEqual([]);
  }, 300_000);

  it('is an address of websites with the port of another listener', () => {
    const settings = [{ name: 'SVC_WEBSITE_ADDRESS', value: ':9000' }];
    const message = issue(() => renderTenant(tenant({ settings }), parts, context()));
    expect(message).toContain('SVC_WEBSITE_ADDRESS has the port 9000, which is that of spec.addresses.s3.port');
  });

  it('is nothing of a Tenant as it comes', () => {
    expect(() => renderTenant(tenant({ tls: { secretName: 'tls' } }), parts, context())).not.toThrow();
  });
});
