/**
 * One setting of the server. The loader, the validation, the help texts, the documentation and the operator all use this row. `SVC_*` is
 * the name of the specification; the aliases are those that existing deployments use.
 */
export interface Setting<T extends SettingType = SettingType> {
  /** The name of the specification, e.g. `SVC_ROOT_USER`. The name of a provider's setting ends before its `_<ID>`. */
  readonly name: string;
  /** Other names. The loader tries them in this order, after `name`. */
  readonly aliases: readonly string[];
  readonly type: T;
  readonly default?: string;
  /** The value is never logged or shown. `<NAME>_FILE` may give the path of a file that holds it. */
  readonly secret: boolean;
  /** A change takes effect only after a restart. */
  readonly restart: boolean;
  /**
   * `per-provider` and `per-target` settings have the suffix `_<ID>` of an identity provider or of a target of audit entries. Without a
   * suffix they belong to the one called `_`.
   */
  readonly scope: 'server' | 'per-provider' | 'per-target';
  /** The key of `admin config` and `admin idp openid`, e.g. `client_id`, and its synonyms. */
  readonly configKeys?: readonly string[];
  /** One sentence: what the setting does, its unit, and the default. */
  readonly help: string;
}

/** Returns the name for documentation, with a placeholder for the suffix. */
export function shownName({ name, scope }: Pick<Setting, 'name' | 'scope'>): string {
  return scope === 'server' ? name : `${name}_<ID>`;
}

export type SettingType =
  | { readonly kind: 'text'; readonly pattern?: RegExp; readonly expects?: string }
  | { readonly kind: 'url'; readonly list?: boolean }
  | { readonly kind: 'path' }
  | { readonly kind: 'on-off' }
  | { readonly kind: 'choice'; readonly of: readonly string[] }
  | { readonly kind: 'list' }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  /** `30s`, `10m`, `1h30m`, `7d`; from `min` (`0s` without it) to `max` (`24d` without it, the longest time that a timer can wait). */
  | { readonly kind: 'duration'; readonly min?: string; readonly max?: string }
  /** `10GiB`, `5%` where `percent`. */
  | { readonly kind: 'size'; readonly percent?: boolean };
