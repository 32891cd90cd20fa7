import { Badge, Checkbox, Group, Select, Switch, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useRights } from '../api/session.ts';
import { RemoteTargets } from './remote-targets.tsx';
import {
  describeReplication,
  emptyReplication,
  freePriority,
  replicationProblem,
  type ReplicationRule,
} from './replication-rules.ts';
import { useRemoteTargets, useReplication, useSetReplication } from './replication-queries.ts';
import { RuleCard } from './rule-card.tsx';
import { RuleDialog, RulesSection } from './rules-section.tsx';
import type { EditorProps } from './setting-section.tsx';

interface ReplicationSectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
  readonly mayResync: boolean;
}

/** Shows the servers to which the versions of the bucket are sent, and the progress. */
export function ReplicationSection({ bucket, mayEdit, mayResync }: ReplicationSectionProps) {
  const { may } = useRights();
  const replication = useReplication(bucket);
  const set = useSetReplication(bucket);
  const targets = useRemoteTargets(bucket, may('admin:GetBucketTarget')).data ?? [];
  const placeOf = (arn: string) => {
    const target = targets.find((one) => one.arn === arn);
    return target === undefined ? arn : `${target.endpoint}/${target.targetbucket}`;
  };

  return (
    <RulesSection
      title="Replication"
      words="Versions of this bucket are copied to a bucket of another server, here Coffer or MinIO. Both buckets keep versions."
      name="The replication"
      add="Add a replication"
      none="No rules: nothing is copied to another server."
      saved="The replication is saved."
      mayEdit={mayEdit}
      query={replication}
      rulesOf={({ rules }) => rules}
      set={set}
      save={(rules, options) => set.mutate({ role: replication.data?.role ?? '', rules }, options)}
      row={({ rule, index, onEdit, onRemove }) => (
        <RuleCard
          key={`${rule.id} ${index}`}
          name={`replication ${rule.id || index + 1}`}
          mayEdit={mayEdit}
          onEdit={onEdit}
          onRemove={onRemove}
        >
          {!rule.enabled && (
            <Group>
              <Badge color="gray">off</Badge>
            </Group>
          )}
          {describeReplication(rule, placeOf).map((sentence) => (
            <Text size="sm" key={sentence}>
              {sentence}
            </Text>
          ))}
        </RuleCard>
      )}
      below={(rules) =>
        may('admin:GetBucketTarget') && (
          <RemoteTargets bucket={bucket} inUse={rules.map(({ target }) => target)} mayResync={mayResync} />
        )
      }
      dialog={(rules, index, editor) => (
        <ReplicationDialog
          rule={
            rules[index] ?? {
              ...emptyReplication,
              priority: freePriority(rules),
              target: targets.length === 1 ? (targets[0]?.arn ?? '') : '',
            }
          }
          others={rules.filter((_, at) => at !== index)}
          targets={targets.map(({ arn }) => ({ value: arn, label: placeOf(arn) }))}
          {...editor}
        />
      )}
    />
  );
}

interface ReplicationDialogProps extends EditorProps<ReplicationRule> {
  readonly rule: ReplicationRule;
  readonly others: readonly ReplicationRule[];
  readonly targets: readonly { readonly value: string; readonly label: string }[];
}

function ReplicationDialog({ rule, others, targets, ...editor }: ReplicationDialogProps) {
  const [edited, setEdited] = useState(rule);
  const problem = replicationProblem(edited, others);
  const isKnown = edited.target === '' || targets.some(({ value }) => value === edited.target);
  const box = (field: 'deleteMarkers' | 'deletes' | 'existingObjects', label: string, description: string) => (
    <Checkbox
      label={label}
      description={description}
      checked={edited[field]}
      onChange={(event) => setEdited({ ...edited, [field]: event.currentTarget.checked })}
    />
  );
  return (
    <RuleDialog title="A replication" submit="Save replication" edited={edited} problem={problem} {...editor}>
      <Select
        label="Target"
        description="Add targets below the rules; that needs admin:SetBucketTarget."
        placeholder="Choose a target"
        allowDeselect={false}
        data-autofocus
        data={isKnown ? [...targets] : [{ value: edited.target, label: edited.target }, ...targets]}
        value={edited.target === '' ? null : edited.target}
        onChange={(target) => setEdited({ ...edited, target: target ?? '' })}
      />
      {edited.otherFilter === undefined ? (
        <TextInput
          label="Keys that begin with"
          description="Empty: all keys of the bucket."
          spellCheck={false}
          value={edited.prefix}
          onChange={(event) => setEdited({ ...edited, prefix: event.currentTarget.value })}
        />
      ) : (
        <Text size="sm" c="dimmed">
          Its filter by tags stays as it is; change it with an S3 client.
        </Text>
      )}
      {box('deleteMarkers', 'Send delete markers', 'A deletion here hides the object there too.')}
      {box('deletes', 'Send removals of versions', 'A version that is removed for good here is removed there too.')}
      {box('existingObjects', 'Send older objects on a resync', 'A resync sends what was there before the rule.')}
      <TextInput
        label="Priority"
        description="Of several rules for one object and target, the highest decides."
        type="number"
        min={0}
        value={String(edited.priority)}
        onChange={(event) => setEdited({ ...edited, priority: Number(event.currentTarget.value) })}
      />
      <Switch
        label="The rule is on"
        checked={edited.enabled}
        onChange={(event) => setEdited({ ...edited, enabled: event.currentTarget.checked })}
      />
    </RuleDialog>
  );
}
