import { ActionIcon, Badge, Checkbox, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { Fragment } from 'react';
import { TierFields } from './tier-fields.tsx';
import { LifecyclePreviewBox } from './lifecycle-preview.tsx';
import { describeRule, emptyRule, ruleIssue, type Rule, unknownOfRule } from './lifecycle-rules.ts';
import { RuleDialog, RulesSection } from '../rules-section.tsx';
import { UnknownFields } from '../../components/unknown-fields.tsx';
import type { EditorProps } from '../setting-section.tsx';
import { useLifecycle, useSetLifecycle } from './lifecycle-queries.ts';
import { say } from '../../texts/say.ts';
import { t } from '../../texts/texts.ts';
import { sayNames } from '../../components/name-text.tsx';
import { useDraft } from '../../components/use-draft.ts';

interface LifecycleSectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

/** Shows the lifecycle rules as sentences, with an editor. */
export function LifecycleSection({ bucket, mayEdit }: LifecycleSectionProps) {
  const rules = useLifecycle(bucket);
  const set = useSetLifecycle(bucket);
  return (
    <RulesSection
      draft="lifecycle"
      title={t.lifecycle.lifecycle}
      words={t.lifecycle.whatTheServerRemovesOrMovesTo}
      what={t.lifecycle.theLifecycleCannotBeShown}
      add={t.lifecycle.addARule}
      none={t.lifecycle.noRulesAllObjectsStayUntilA}
      saved={t.lifecycle.theLifecycleIsSaved}
      mayEdit={mayEdit}
      query={rules}
      rulesOf={(answer) => answer.rules}
      save={(rules, before) => set.mutateAsync({ ...before, rules })}
      row={({ rule, index, onEdit, onRemove }) => (
        <RuleRow key={`${rule.id} ${index}`} rule={rule} mayEdit={mayEdit} onEdit={onEdit} onRemove={onRemove} />
      )}
      dialog={(shown, index, editor) => (
        <LifecycleDialog bucket={bucket} rule={shown[index] ?? emptyRule} isNew={index === shown.length} {...editor} />
      )}
    />
  );
}

interface RuleRowProps {
  readonly rule: Rule;
  readonly mayEdit: boolean;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

function RuleRow({ rule, mayEdit, onEdit, onRemove }: RuleRowProps) {
  return (
    <Group justify="space-between" wrap="nowrap" align="flex-start" className="card-row">
      <Stack gap={2} miw={0} style={{ overflowWrap: 'anywhere' }}>
        <Group gap="xs">
          {rule.id !== '' && !isGenerated(rule.id) && (
            <Text size="sm" fw={550}>
              {rule.id}
            </Text>
          )}
          {!rule.enabled && <Badge color="gray">{t.lifecycle.off}</Badge>}
        </Group>
        {describeRule(rule, sayNames).map((sentence, index) => (
          <Text size="sm" key={index}>
            {sentence}
          </Text>
        ))}
        <UnknownFields parts={unknownOfRule(rule)} />
      </Stack>
      {mayEdit && (
        <Group gap={2} wrap="nowrap">
          <ActionIcon size="sm" aria-label={say(t.lifecycle.editTheRule, { id: rule.id }).trim()} onClick={onEdit}>
            <IconPencil size={15} />
          </ActionIcon>
          <ActionIcon size="sm" aria-label={say(t.lifecycle.removeTheRule, { id: rule.id }).trim()} onClick={onRemove}>
            <IconTrash size={15} />
          </ActionIcon>
        </Group>
      )}
    </Group>
  );
}

/** The server gives such an ID to a rule without one. */
function isGenerated(id: string): boolean {
  return /^[0-9a-f]{32}$/.test(id);
}

interface LifecycleDialogProps extends EditorProps<Rule> {
  readonly bucket: string;
  readonly rule: Rule;
  readonly isNew: boolean;
}

const numbers = [
  ['expireDays', t.lifecycle.deleteObjectsAfter, t.bucketSettings.days],
  ['noncurrentDays', t.lifecycle.removeOldVersionsAfter, t.bucketSettings.days],
  ['keepVersions', t.lifecycle.butKeepTheNewest, t.lifecycle.oldVersionsWord],
  ['abortDays', t.lifecycle.removeUnfinishedUploadsAfter, t.bucketSettings.days],
] as const;

function LifecycleDialog({ bucket, rule, isNew, ...editor }: LifecycleDialogProps) {
  const [edited, setEdited] = useDraft('lifecycle.rule', rule);
  const issue = ruleIssue(edited);

  return (
    <RuleDialog
      title={isNew ? t.lifecycle.addALifecycleRule : t.lifecycle.editTheLifecycleRule}
      submit={t.lifecycle.saveRule}
      edited={edited}
      issue={issue}
      {...editor}
    >
      <TextInput
        label={t.labels.name}
        description={t.lifecycle.theServerGivesANameWhereYou}
        maxLength={255}
        data-autofocus
        value={edited.id}
        onChange={(event) => setEdited({ ...edited, id: event.currentTarget.value })}
      />
      <TextInput
        label={t.labels.keysThatBeginWith}
        description={t.lifecycle.emptyAllKeysOfTheBucket}
        spellCheck={false}
        value={edited.prefix}
        onChange={(event) => setEdited({ ...edited, prefix: event.currentTarget.value })}
      />
      {numbers.map(([field, label, unit]) => (
        <TextInput
          key={field}
          label={label}
          type="number"
          min={1}
          rightSection={
            <Text size="xs" c="dimmed" pr="md" style={{ whiteSpace: 'nowrap' }}>
              {unit}
            </Text>
          }
          rightSectionWidth={96}
          value={edited[field] ?? ''}
          onChange={(event) => {
            const { value } = event.currentTarget;
            setEdited({ ...edited, [field]: value === '' ? undefined : Number(value) });
          }}
        />
      ))}
      <TierFields rule={edited} onChange={setEdited} />
      <Checkbox
        label={t.lifecycle.removeDeleteMarkersWithoutAnyVersionBefore}
        checked={edited.removeLoneMarkers}
        onChange={(event) => setEdited({ ...edited, removeLoneMarkers: event.currentTarget.checked })}
      />
      <Switch
        label={t.lifecycle.theRuleIsOn}
        checked={edited.enabled}
        onChange={(event) => setEdited({ ...edited, enabled: event.currentTarget.checked })}
      />
      {issue === undefined && (
        <Text size="sm" c="dimmed" aria-live="polite">
          {describeRule(edited, sayNames).map((sentence, index) => (
            <Fragment key={index}>{sentence} </Fragment>
          ))}
        </Text>
      )}
      <UnknownFields parts={unknownOfRule(edited)} />
      <LifecyclePreviewBox bucket={bucket} rule={edited} issue={issue} />
    </RuleDialog>
  );
}
