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
} as const;

export type JobTemplate = keyof typeof jobTemplates;
