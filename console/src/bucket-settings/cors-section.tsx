import { ActionIcon, Group, MultiSelect, TagsInput, Text, TextInput } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { FormDialog } from '../components/form-dialog.tsx';
import { RulesSection } from './rules-section.tsx';
import type { EditorProps } from './setting-section.tsx';
import { type CorsRule, emptyCors, unknownOfCors, useCors, useSetCors } from './cors-rules.ts';
import { UnknownFields } from '../components/unknown-fields.tsx';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';
import { useDraft } from '../components/use-draft.ts';

interface CorsSectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

/** Shows which pages of other sites may use the bucket. */
export function CorsSection({ bucket, mayEdit }: CorsSectionProps) {
  const rules = useCors(bucket);
  const set = useSetCors(bucket);
  return (
    <RulesSection
      draft="cors"
      title={t.bucketSettings.otherSitesCors}
      words={t.bucketSettings.whichPagesOfOtherSitesBrowsersLet}
      what={t.bucketSettings.theRulesCannotBeShown}
      add={t.bucketSettings.addASite}
      none={t.bucketSettings.noRulesOfItsOwnTheSetting}
      saved={t.bucketSettings.theRulesForOtherSitesAreSaved}
      mayEdit={mayEdit}
      query={rules}
      rulesOf={(answer) => answer.rules}
      save={(rules, { root }) => set.mutateAsync({ root, rules })}
      row={({ rule, index, onEdit, onRemove }) => (
        <Group key={index} justify="space-between" wrap="nowrap" align="flex-start" className="card-row">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {say(t.bucketSettings.pagesOfMaySend, {
              origins: rule.origins.join(', '),
              methods: rule.methods.join(', '),
            })}
          </Text>
          {mayEdit && (
            <Group gap={2} wrap="nowrap">
              <ActionIcon size="sm" aria-label={say(t.bucketSettings.editRule, { index: index + 1 })} onClick={onEdit}>
                <IconPencil size={15} />
              </ActionIcon>
              <ActionIcon
                size="sm"
                aria-label={say(t.bucketSettings.removeRule, { index: index + 1 })}
                onClick={onRemove}
              >
                <IconTrash size={15} />
              </ActionIcon>
            </Group>
          )}
        </Group>
      )}
      dialog={(shown, index, editor) => <CorsDialog rule={shown[index] ?? emptyCors} {...editor} />}
    />
  );
}

interface CorsDialogProps extends EditorProps<CorsRule> {
  readonly rule: CorsRule;
}

function CorsDialog({ rule, pending, error, onSave, onClose }: CorsDialogProps) {
  const [edited, setEdited] = useDraft('cors.rule', rule);
  return (
    <FormDialog
      title={t.bucketSettings.aRuleForOtherSites}
      submit={t.bucketSettings.saveRule}
      pending={pending}
      error={error}
      onSubmit={() => onSave(edited)}
      onClose={onClose}
    >
      <TagsInput
        label={t.bucketSettings.origins}
        description={t.bucketSettings.forExampleHttpsAppExampleComOr}
        data-autofocus
        value={[...edited.origins]}
        onChange={(origins) => setEdited({ ...edited, origins })}
      />
      <MultiSelect
        label={t.bucketSettings.methods}
        data={['GET', 'HEAD', 'PUT', 'POST', 'DELETE']}
        value={[...edited.methods]}
        onChange={(methods) => setEdited({ ...edited, methods })}
      />
      <TagsInput
        label={t.bucketSettings.headersThatAPageMaySend}
        value={[...edited.headers]}
        onChange={(headers) => setEdited({ ...edited, headers })}
      />
      <TagsInput
        label={t.bucketSettings.headersThatAPageMayRead}
        value={[...edited.exposed]}
        onChange={(exposed) => setEdited({ ...edited, exposed })}
      />
      <TextInput
        label={t.bucketSettings.secondsThatABrowserRemembersTheAnswer}
        type="number"
        value={edited.maxAge}
        onChange={(event) => setEdited({ ...edited, maxAge: event.currentTarget.value })}
      />
      <UnknownFields parts={unknownOfCors(edited)} />
    </FormDialog>
  );
}
