import { shownName } from '../protocol/settings/setting.ts';
import { settings } from '../protocol/settings/table.ts';

/** Every setting with its default and meaning, for `--help`. */
export function settingsHelp(): string {
  const lines = settings.flatMap((row) => {
    const more = [
      'default' in row && row.default !== undefined ? `default ${row.default}` : [],
      row.secret ? `secret: also ${row.name}_FILE` : [],
    ].flat();
    return [`  ${shownName(row)}`, `      ${row.help}${more.length === 0 ? '' : ` (${more.join('; ')})`}`];
  });
  return [
    '',
    'Settings (environment variables, or lines of the file that SVC_CONFIG_ENV_FILE names; MINIO_* names work too):',
    ...lines,
  ].join('\n');
}
