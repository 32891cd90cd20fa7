import { reader, type Slapd, suffix } from './start-slapd.ts';

/** A server that asks this directory, by TLS, set up as MinIO would be. */
export function directorySettings(slapd: Slapd): Record<string, string> {
  return {
    MINIO_IDENTITY_LDAP_SERVER_ADDR: slapd.tls,
    SVC_IDENTITY_LDAP_CA_FILE: slapd.caFile,
    MINIO_IDENTITY_LDAP_LOOKUP_BIND_DN: reader.dn,
    MINIO_IDENTITY_LDAP_LOOKUP_BIND_PASSWORD: reader.password,
    MINIO_IDENTITY_LDAP_USER_DN_SEARCH_BASE_DN: `ou=people,${suffix}`,
    MINIO_IDENTITY_LDAP_USER_DN_SEARCH_FILTER: '(uid=%s)',
    MINIO_IDENTITY_LDAP_GROUP_SEARCH_BASE_DN: `ou=groups,${suffix}`,
    MINIO_IDENTITY_LDAP_GROUP_SEARCH_FILTER: '(&(objectClass=groupOfNames)(member=%d))',
  };
}
