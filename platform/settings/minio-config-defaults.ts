/**
 * The keys of MinIO's `config export` that this server does not have, with the values that MinIO writes where no administrator set them. A key
 * has several where releases differ. Subsystems that are off are comments in an export, so that they are not here.
 *
 * @see https://github.com/minio/minio/tree/master/internal/config, `DefaultKVS` of each package
 */
const defaults: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  subnet: { license: [''], api_key: [''], proxy: [''] },
  callhome: { enable: ['off'], frequency: ['24h'] },
  drive: { max_timeout: ['', '30s'] },
  batch: { replication_workers_wait: ['0ms'], keyrotation_workers_wait: ['0ms'], expiration_workers_wait: ['0ms'] },
  ilm: { transition_workers: ['100'], expiration_workers: ['100'] },
  heal: { bitrotscan: ['off'], max_sleep: ['1s', '250ms'], max_io: ['10', '100'], drive_workers: [''] },
  storage_class: { standard: [''], rrs: ['EC:1'], optimize: ['availability'], inline_block: [''] },
  site: { name: [''] },
  scanner: { idle_speed: [''], delay: [''], max_wait: [''], cycle: [''] },
  browser: {
    csp_policy: [
      "default-src 'self' 'unsafe-eval' 'unsafe-inline'; script-src 'self' https://unpkg.com;  connect-src 'self' https://unpkg.com;",
    ],
    hsts_seconds: ['0'],
    hsts_include_subdomains: ['off'],
    hsts_preload: ['off'],
    referrer_policy: ['strict-origin-when-cross-origin'],
  },
  api: {
    requests_max: ['0'],
    requests_deadline: ['10s'],
    cluster_deadline: ['10s'],
    remote_transport_deadline: ['2h'],
    list_quorum: ['strict'],
    replication_priority: ['auto'],
    replication_max_workers: ['500'],
    replication_max_lrg_workers: ['10'],
    transition_workers: ['100'],
    stale_uploads_cleanup_interval: ['6h'],
    stale_uploads_expiry: ['24h'],
    delete_cleanup_interval: ['5m'],
    disable_odirect: [''],
    odirect: ['on'],
    gzip_objects: ['off'],
    root_access: ['on'],
    sync_events: ['off'],
    object_max_versions: ['9223372036854775807'],
  },
};

/** Returns the keys of a subsystem, each with the first of its values. */
export function minioDefaults(
  subsystem: 'subnet' | 'callhome',
): readonly { readonly key: string; readonly value: string }[] {
  return Object.entries(defaults[subsystem] ?? {}).map(([key, [value = '']]) => ({ key, value }));
}

/** Reports whether MinIO exports this value where no administrator set it. To leave such a value out loses nothing. */
export function isMinioDefault(subsystem: string, key: string, value: string): boolean {
  return defaults[subsystem]?.[key]?.includes(value) === true;
}
