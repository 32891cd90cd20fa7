/** Rules that change what is written, as those of Kyverno do, by the API server's own policies. */
interface Rule {
  /** The part of an expression that answers the containers of the object. */
  readonly resource: 'statefulsets' | 'pods';
  readonly condition: string;
  /** A list of JSONPatch in CEL. */
  readonly patch: string;
}

const specs = { statefulsets: 'object.spec.template.spec', pods: 'object.spec' } as const;
const containers = { statefulsets: `${specs.statefulsets}.containers`, pods: `${specs.pods}.containers` } as const;
const paths = { statefulsets: '/spec/template/spec', pods: '/spec' } as const;

export const mutatingRules = {
  /** A mirror before the image. The name is another spelling of the same image, so that a node that has it needs no registry. */
  image: (resource: Rule['resource']): Rule => ({
    resource,
    condition: `!${containers[resource]}[0].image.startsWith('docker.io/')`,
    patch: `[JSONPatch{op: "replace", path: "${paths[resource]}/containers/0/image", value: "docker.io/library/" + ${containers[resource]}[0].image}]`,
  }),
  variable: (resource: Rule['resource']): Rule => ({
    resource,
    condition: `!${containers[resource]}[0].env.exists(e, e.name == 'ADDED_BY_POLICY')`,
    patch: `[JSONPatch{op: "add", path: "${paths[resource]}/containers/0/env/-", value: Object${resource === 'pods' ? '' : '.spec.template'}.spec.containers.env{name: "ADDED_BY_POLICY", value: "1"}}]`,
  }),
  user: (resource: Rule['resource']): Rule => ({
    resource,
    condition: `${specs[resource]}.securityContext.runAsUser != 65533`,
    patch: `[JSONPatch{op: "add", path: "${paths[resource]}/securityContext/runAsUser", value: 65533}]`,
  }),
  /** Another group than the image's. The user stays, to whom the volumes of the cluster belong. */
  group: (resource: Rule['resource']): Rule => ({
    resource,
    condition: `${specs[resource]}.securityContext.runAsGroup != 65533`,
    patch: `[JSONPatch{op: "add", path: "${paths[resource]}/securityContext/runAsGroup", value: 65533}]`,
  }),
} as const;

/** Answers a policy for one namespace, and its binding. */
export function mutatingPolicy(
  name: string,
  namespace: string,
  { resource, condition, patch }: Rule,
): readonly object[] {
  const apiVersion = 'admissionregistration.k8s.io/v1beta1';
  return [
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata: { name },
      spec: {
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          resourceRules: [
            {
              apiGroups: [resource === 'pods' ? '' : 'apps'],
              apiVersions: ['v1'],
              operations: resource === 'pods' ? ['CREATE'] : ['CREATE', 'UPDATE'],
              resources: [resource],
            },
          ],
        },
        matchConditions: [{ name: 'not-yet', expression: condition }],
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patch } }],
      },
    },
    { apiVersion, kind: 'MutatingAdmissionPolicyBinding', metadata: { name }, spec: { policyName: name } },
  ];
}
