import type { Setting, SettingType } from './setting.ts';

/** A row of the table for what the server is set by; the name in MinIO's deployments is the same after its beginning. */
export function serverRow(name: string, type: SettingType, help: string, more: Partial<Setting> = {}): Setting {
  return {
    name,
    aliases: [name.replace(/^SVC_/, 'MINIO_')],
    type,
    secret: false,
    restart: true,
    scope: 'server',
    help,
    ...more,
  };
}
