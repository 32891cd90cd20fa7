import { maxTimer } from './parse-value.ts';
import { settings } from '../../protocol/settings/table.ts';
import { shownName } from '../../protocol/settings/setting.ts';
import type { Setting, SettingType } from '../../protocol/settings/setting.ts';

/** `docs/guides/settings.md`, from the table of settings. `npm run docs` writes it; a test fails when it is stale. */
export function settingsGuide(): string {
  return [
    '# Settings of the server',
    '<!-- Made by `npm run docs` from protocol/settings/table.ts. Do not edit. -->',
    'Settings are environment variables, or lines `NAME=value` of the file that `SVC_CONFIG_ENV_FILE` names (default ' +
      '`/etc/default/coffer`; quotes, `export` and comments are understood); the environment wins. The names that other deployments ' +
      'use work as well, after the first. A **secret** may be given as `<NAME>_FILE`, the path of a file that holds it. An empty ' +
      'variable counts as not set. Blanks around a value and line breaks at its end do not count, and a secret with a blank at an ' +
      'end is refused. Every problem is reported at once at start, without the value of a secret.',
    '## Server and key service',
    ...sections('server'),
    '## OpenID Connect providers',
    'Each provider is a group of variables with the suffix `_<ID>`, for example `SVC_IDENTITY_OPENID_CONFIG_URL_PRIMARY_IAM`. One ' +
      'provider may go without a suffix. The operator renders the `IdentityProvider` `primary-iam` to the suffix `_PRIMARY_IAM`.',
    ...sections('per-provider'),
    '## Audit webhooks',
    'Each address that audit entries go to is a group of variables with the suffix `_<ID>`, for example ' +
      '`SVC_AUDIT_WEBHOOK_ENDPOINT_SIEM`; one may go without a suffix. See [audit.md](audit.md).',
    ...sections('per-target', 'SVC_AUDIT_'),
    '## Notification targets',
    'Each target of events is a group of variables with the suffix `_<ID>`, for example `SVC_NOTIFY_WEBHOOK_ENDPOINT_BUILD`; one may ' +
      'go without a suffix. Its ARN is `arn:minio:sqs:REGION:BUILD:webhook`. See [notifications.md](notifications.md).',
    ...sections('per-target', 'SVC_NOTIFY_'),
    '',
  ].join('\n\n');
}

function sections(scope: Setting['scope'], prefix = ''): string[] {
  return settings.filter((row) => row.scope === scope && row.name.startsWith(prefix)).map(section);
}

function section(row: Setting): string {
  const facts = [
    describe(row.type),
    row.default === undefined ? [] : `default \`${row.default}\``,
    row.secret ? '**secret**' : [],
    configKeyFacts(row),
    row.aliases.length === 0 ? [] : `also ${row.aliases.map(code).join(', ')}`,
  ];
  return `**\`${shownName(row)}\`**: ${row.help}\n${facts.flat().join('; ')}.`;
}

/** Client certificates and the plugin are set up by the environment alone: their keys are those of MinIO. */
function configKeyFacts({ name, configKeys = [] }: Setting): string[] {
  const command = /^SVC_IDENTITY_(OPENID|LDAP)_/.exec(name)?.[1]?.toLowerCase();
  return command === undefined || configKeys.length === 0
    ? []
    : [`in \`admin idp ${command}\`: ${configKeys.map(code).join(', ')}`];
}

const code = (text: string) => `\`${text}\``;

function describe(type: SettingType): string {
  switch (type.kind) {
    case 'text':
      return type.expects ?? 'text';
    case 'url':
      return type.list === true ? 'addresses, comma-separated; `{1...4}` is expanded' : 'address';
    case 'path':
      return 'path';
    case 'on-off':
      return '`on` or `off`';
    case 'choice':
      return type.of.map(code).join(' or ');
    case 'list':
      return 'comma-separated list';
    case 'integer':
      return `whole number, ${type.min} to ${type.max}`;
    case 'duration':
      return `duration such as \`30s\`, \`10m\`, \`1h30m\`; \`${type.min ?? '0s'}\` to \`${type.max ?? maxTimer}\``;
    case 'size':
      return `size such as \`500MiB\`${type.percent === true ? ', or a share such as `1%`' : ''}`;
  }
}
