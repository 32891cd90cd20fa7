import { setting } from '../../protocol/settings/table.ts';
import type { SettingReader } from './setting-source.ts';

/** Typed reads of the settings that share a prefix and, for a provider, a suffix. */
export function group(reader: SettingReader, prefix: string, suffix = '') {
  const read = (part: string) => reader.read(setting(prefix + part), suffix);
  const text = (part: string): string | undefined => {
    const value = read(part);
    return typeof value === 'string' ? value : undefined;
  };
  return {
    read,
    text,
    onOff: (part: string): boolean => read(part) === true,
    number: (part: string): number | undefined => {
      const value = read(part);
      return typeof value === 'number' ? value : undefined;
    },
    list: (part: string): readonly string[] => {
      const value = read(part);
      return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
    },
    /** An object with the field, or an empty one, for spreading. */
    optional: <Field extends string>(field: Field, part: string): Partial<Record<Field, string>> => {
      const value = text(part);
      return value === undefined ? {} : ({ [field]: value } as Record<Field, string>);
    },
  };
}
