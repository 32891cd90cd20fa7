import { Badge, Checkbox, Group, Select, Switch, Text, TextInput } from '@mantine/core';
import { useRights } from '../api/session.ts';
import { RemoteTargets } from './remote-targets.tsx';
import {
  describeReplication,
  emptyReplication,
  freePriority,
  replicationIssue,
  type ReplicationRule,
  unknownOfReplication,
} from './replication-rules.ts';
import { useRemoteTargets, useReplication, useSetReplication } from './replication-queries.ts';
import { RuleCard } from './rule-card.tsx';
import { RuleDialog, RulesSection } from './rules-section.tsx';
import { UnknownFields } from '../components/unknown-fields.tsx';
import type { EditorProps } from './setting-section.tsx';
import { sayNames } from '../components/name-text.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

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
      draft="replication"
      title={t.replication.replication}
      words={t.replication.versionsOfThisBucketAreCopiedTo}
      what={t.replication.theReplicationCannotBeShown}
      add={t.replication.addAReplication}
      none={t.replication.noRulesNothingIsCopiedToAnother}
      saved={t.replication.theReplicationIsSaved}
      mayEdit={mayEdit}
      query={replication}
      rulesOf={({ rules }) => rules}
      save={(rules, { root }) => set.mutateAsync({ root, rules })}
      row={({ rule, index, onEdit, onRemove }) => (
        <RuleCard
          key={`${rule.id} ${index}`}
          name={rule.id || `${index + 1}`}
          mayEdit={mayEdit}
          onEdit={onEdit}
          onRemove={onRemove}
        >
          {!rule.enabled && (
            <Group>
              <Badge color="gray">{t.replication.off}</Badge>
            </Group>
          )}
          {describeReplication(rule, placeOf, sayNames).map((sentence, at) => (
            <Text size="sm" key={at}>
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
  const { may } = useRights();
  const [edited, setEdited] = useDraft('replication.rule', rule);
  const issue = replicationIssue(edited, others);
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
    <RuleDialog
      title={t.replication.aReplication}
      submit={t.replication.saveReplication}
      edited={edited}
      issue={issue}
      {...editor}
    >
      <Select
        label={t.replication.target}
        description={targetWords(may('admin:SetBucketTarget'))}
        placeholder={t.replication.chooseATarget}
        allowDeselect={false}
        data-autofocus
        data={isKnown ? [...targets] : [{ value: edited.target, label: edited.target }, ...targets]}
        value={edited.target === '' ? null : edited.target}
        onChange={(target) => setEdited({ ...edited, target: target ?? '' })}
      />
      <TextInput
        label={t.labels.keysThatBeginWith}
        description={t.replication.emptyAllKeysOfTheBucket}
        spellCheck={false}
        value={edited.prefix}
        onChange={(event) => setEdited({ ...edited, prefix: event.currentTarget.value })}
      />
      {box('deleteMarkers', t.replication.sendDeleteMarkers, t.replication.aDeletionHereHidesTheObjectThere)}
      {box('deletes', t.replication.sendRemovalsOfVersions, t.replication.aVersionThatIsRemovedForGood)}
      {box('existingObjects', t.replication.sendOlderObjectsOnAResync, t.replication.aResyncSendsWhatWasThereBefore)}
      <TextInput
        label={t.replication.priority}
        description={t.replication.ofSeveralRulesForOneObjectAnd}
        type="number"
        min={0}
        value={String(edited.priority)}
        onChange={(event) => setEdited({ ...edited, priority: Number(event.currentTarget.value) })}
      />
      <Switch
        label={t.replication.theRuleIsOn}
        checked={edited.enabled}
        onChange={(event) => setEdited({ ...edited, enabled: event.currentTarget.checked })}
      />
      <UnknownFields parts={unknownOfReplication(edited)} />
    </RuleDialog>
  );
}

/** Says where targets are added, or which right that needs. */
function targetWords(mayAdd: boolean): string {
  if (mayAdd) return t.replication.targetsAreAddedBelowTheRules;
  return say(t.components.toCreateOneYouNeedTheRight, { right: 'admin:SetBucketTarget' });
}
