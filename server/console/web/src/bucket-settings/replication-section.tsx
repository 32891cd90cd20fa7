import { Badge, Button, Checkbox, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useRights } from '../api/session.ts';
import { Loaded, Section } from '../components/detail-page.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { FormDialog, FormError } from '../components/form-dialog.tsx';
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

interface ReplicationSectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
  readonly mayResync: boolean;
}

/** Where the versions of the bucket are sent, and how far that is. */
export function ReplicationSection({ bucket, mayEdit, mayResync }: ReplicationSectionProps) {
  const { may } = useRights();
  const replication = useReplication(bucket);
  const set = useSetReplication(bucket);
  const targets = useRemoteTargets(bucket, may('admin:GetBucketTarget')).data ?? [];
  const [edited, setEdited] = useState<number>();
  const placeOf = (arn: string) => {
    const target = targets.find((one) => one.arn === arn);
    return target === undefined ? arn : `${target.endpoint}/${target.targetbucket}`;
  };

  function save(rules: readonly ReplicationRule[]): void {
    set.mutate(
      { role: replication.data?.role ?? '', rules },
      {
        onSuccess: () => {
          setEdited(undefined);
          notifyDone('The replication is saved.');
        },
      },
    );
  }

  return (
    <Section
      title="Replication"
      words="Versions of this bucket are copied to a bucket of another server, here Coffer or MinIO. Both buckets keep versions."
      action={
        mayEdit &&
        replication.isSuccess && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => setEdited(replication.data.rules.length)}
          >
            Add a replication
          </Button>
        )
      }
    >
      <Loaded name="The replication" query={replication}>
        {({ rules }) => (
          <Stack gap="xs">
            {rules.length === 0 && (
              <Text size="sm" c="dimmed">
                No rules: nothing is copied to another server.
              </Text>
            )}
            {rules.map((rule, index) => (
              <RuleCard
                key={`${rule.id} ${index}`}
                name={`replication ${rule.id || index + 1}`}
                mayEdit={mayEdit}
                onEdit={() => setEdited(index)}
                onRemove={() => save(rules.filter((_, at) => at !== index))}
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
            ))}
            {edited === undefined && <FormError error={set.error} />}
            {may('admin:GetBucketTarget') && (
              <RemoteTargets bucket={bucket} inUse={rules.map(({ target }) => target)} mayResync={mayResync} />
            )}
            {edited !== undefined && (
              <ReplicationDialog
                rule={
                  rules[edited] ?? {
                    ...emptyReplication,
                    priority: freePriority(rules),
                    target: targets.length === 1 ? (targets[0]?.arn ?? '') : '',
                  }
                }
                others={rules.filter((_, at) => at !== edited)}
                targets={targets.map(({ arn }) => ({ value: arn, label: placeOf(arn) }))}
                pending={set.isPending}
                error={set.error}
                onSave={(rule) => save([...rules.slice(0, edited), rule, ...rules.slice(edited + 1)])}
                onClose={() => {
                  set.reset();
                  setEdited(undefined);
                }}
              />
            )}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

interface ReplicationDialogProps {
  readonly rule: ReplicationRule;
  readonly others: readonly ReplicationRule[];
  readonly targets: readonly { readonly value: string; readonly label: string }[];
  readonly pending: boolean;
  readonly error: Error | null;
  readonly onSave: (rule: ReplicationRule) => void;
  readonly onClose: () => void;
}

function ReplicationDialog({ rule, others, targets, pending, error, onSave, onClose }: ReplicationDialogProps) {
  const [edited, setEdited] = useState(rule);
  const [tried, setTried] = useState(false);
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
    <FormDialog
      title="A replication"
      submit="Save replication"
      pending={pending}
      error={tried && problem !== undefined ? new Error(problem) : error}
      onSubmit={() => {
        setTried(true);
        if (problem === undefined) onSave(edited);
      }}
      onClose={onClose}
    >
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
    </FormDialog>
  );
}
