/** Descriptions of jobs to fill in, in the format of MinIO's batch jobs, version 1. */
export const batchTemplates = {
  replicate: `replicate:
  apiVersion: v1
  source: # where the objects are; leave out endpoint and credentials for the server that runs the job
    type: minio # minio or s3
    bucket: SOURCE
    prefix: ""
    endpoint: "https://HOST:PORT"
    path: auto # on, off or auto
    credentials:
      accessKey: ACCESS-KEY
      secretKey: SECRET-KEY
    snowball: # small objects go together
      disable: false
      batch: 100
      inmemory: true
      compress: false
      smallerThan: 256KiB
      skipErrs: false
  target: # where they go; either the source or the target is the server that runs the job
    type: minio
    bucket: TARGET
    prefix: ""
    endpoint: "https://HOST:PORT"
    path: auto
    credentials:
      accessKey: ACCESS-KEY
      secretKey: SECRET-KEY
  flags: # all are optional
    filter:
      newerThan: "7d"
      olderThan: "7d"
      createdAfter: "2025-01-01T00:00:00Z"
      createdBefore: "2026-01-01T00:00:00Z"
      tags:
        - key: name
          value: "pick*"
      metadata:
        - key: content-type
          value: "image/*"
    # notify: # gets the report at the end
    #   endpoint: "https://HOST/PATH"
    #   token: "Bearer TOKEN"
    retry:
      attempts: 10
      delay: 500ms`,
  keyrotate: `keyrotate:
  apiVersion: v1
  bucket: BUCKET
  prefix: ""
  encryption:
    type: sse-kms # sse-s3 or sse-kms
    key: KEY-NAME # for sse-kms
    context: "" # for sse-kms
  flags: # all are optional
    filter:
      newerThan: "7d"
      olderThan: "7d"
      createdAfter: "2025-01-01T00:00:00Z"
      createdBefore: "2026-01-01T00:00:00Z"
      tags:
        - key: name
          value: "pick*"
      metadata:
        - key: content-type
          value: "image/*"
      kmskey: OLD-KEY-NAME
    # notify: # for a MinIO
    #   endpoint: "https://HOST/PATH"
    #   token: "Bearer TOKEN"
    retry:
      attempts: 10
      delay: 500ms`,
  expire: `expire:
  apiVersion: v1
  bucket: BUCKET
  prefix: ""
  rules: # all conditions are optional
    - type: object # objects, with their older versions
      name: "*.log"
      olderThan: 70h
      createdBefore: "2026-01-01T00:00:00Z"
      tags:
        - key: name
          value: "pick*"
      metadata:
        - key: content-type
          value: "image/*"
      size:
        lessThan: 10MiB
        greaterThan: 1MiB
      purge:
        retainVersions: 0 # 0 removes all versions
    - type: deleted # keys whose current version is a delete marker
      name: "*"
      olderThan: 10h
      purge:
        retainVersions: 0
  # notify: # for a MinIO
  #   endpoint: "https://HOST/PATH"
  #   token: "Bearer TOKEN"
  retry:
    attempts: 10
    delay: 500ms`,
} as const;
