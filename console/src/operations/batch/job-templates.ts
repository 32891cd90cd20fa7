/** Definitions to begin with. `BUCKET` and `KEY` are to be replaced: there is no bucket of that name. */
export const jobTemplates = {
  expire: `expire:
  apiVersion: v1
  bucket: BUCKET
  prefix: ""
  rules: # all conditions of a rule must hold
    - type: object # objects, with their older versions
      name: "*.log"
      olderThan: 30d
      purge:
        retainVersions: 0 # 0 removes all versions
`,
  keyrotate: `keyrotate:
  apiVersion: v1
  bucket: BUCKET
  prefix: ""
  encryption:
    type: sse-kms
    key: KEY # the new key
`,
  replicate: `replicate:
  apiVersion: v1
  source:
    type: minio
    bucket: BUCKET
    prefix: ""
  target: # the other server; without endpoint and credentials here, the source needs them
    type: minio
    bucket: BUCKET
    endpoint: https://s3.example.com
    credentials:
      accessKey: ACCESS_KEY
      secretKey: SECRET_KEY
`,
} as const;

export type JobTemplate = keyof typeof jobTemplates;

/** Removes the values of the secrets of a definition. */
export function withoutSecrets(definition: string): string {
  return definition.replaceAll(/(\b(?:secret\w*|sessionToken|token|password)["']?\s*:)[^\n,}]*/gi, '$1');
}
