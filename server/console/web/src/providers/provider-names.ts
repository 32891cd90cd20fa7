export function kindName(type: string): string {
  return type === 'openid' ? 'OpenID' : type === 'ldap' ? 'LDAP' : type;
}

/** `_` is the configuration without a name of its own. */
export function shownName(name: string): string {
  return name === '_' ? '_ (default)' : name;
}
