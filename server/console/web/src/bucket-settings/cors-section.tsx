import { ActionIcon, Group, MultiSelect, TagsInput, Text, TextInput } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { FormDialog } from '../components/form-dialog.tsx';
import { RulesSection } from './rules-section.tsx';
import type { EditorProps } from './setting-section.tsx';
import { useCors, useSetCors, type CorsRule } from './settings-queries.ts';

interface CorsSectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

const empty: CorsRule = { origins: [], methods: ['GET'], headers: ['*'], exposed: ['ETag'] };

/** Shows which pages of other sites may use the bucket. */
export function CorsSection({ bucket, mayEdit }: CorsSectionProps) {
  const rules = useCors(bucket);
  const set = useSetCors(bucket);
  return (
    <RulesSection
      title="Other sites (CORS)"
      words="Which pages of other sites browsers let use this bucket."
      name="The rules"
      add="Add a site"
      none="No rules of its own: the setting of the server decides."
      saved="The rules for other sites are saved."
      mayEdit={mayEdit}
      query={rules}
      rulesOf={(answer) => answer}
      set={set}
      save={set.mutate}
      row={({ rule, index, onEdit, onRemove }) => (
        <Group key={index} justify="space-between" wrap="nowrap" align="flex-start" className="card-row">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            Pages of {rule.origins.join(', ')} may send {rule.methods.join(', ')}.
          </Text>
          {mayEdit && (
            <Group gap={2} wrap="nowrap">
              <ActionIcon size="sm" aria-label={`Edit rule ${index + 1}`} onClick={onEdit}>
                <IconPencil size={15} />
              </ActionIcon>
              <ActionIcon size="sm" aria-label={`Remove rule ${index + 1}`} onClick={onRemove}>
                <IconTrash size={15} />
              </ActionIcon>
            </Group>
          )}
        </Group>
      )}
      dialog={(shown, index, editor) => <CorsDialog rule={shown[index] ?? empty} {...editor} />}
    />
  );
}

interface CorsDialogProps extends EditorProps<CorsRule> {
  readonly rule: CorsRule;
}

function CorsDialog({ rule, pending, error, onSave, onClose }: CorsDialogProps) {
  const [edited, setEdited] = useState(rule);
  return (
    <FormDialog
      title="A rule for other sites"
      submit="Save rule"
      pending={pending}
      error={error}
      onSubmit={() => onSave(edited)}
      onClose={onClose}
    >
      <TagsInput
        label="Origins"
        description="For example https://app.example.com, or * for all. Enter adds one."
        data-autofocus
        value={[...edited.origins]}
        onChange={(origins) => setEdited({ ...edited, origins })}
      />
      <MultiSelect
        label="Methods"
        data={['GET', 'HEAD', 'PUT', 'POST', 'DELETE']}
        value={[...edited.methods]}
        onChange={(methods) => setEdited({ ...edited, methods })}
      />
      <TagsInput
        label="Headers that a page may send"
        value={[...edited.headers]}
        onChange={(headers) => setEdited({ ...edited, headers })}
      />
      <TagsInput
        label="Headers that a page may read"
        value={[...edited.exposed]}
        onChange={(exposed) => setEdited({ ...edited, exposed })}
      />
      <TextInput
        label="Seconds that a browser remembers the answer"
        type="number"
        min={0}
        value={edited.maxAge ?? ''}
        onChange={(event) => setEdited({ ...edited, maxAge: event.currentTarget.value })}
      />
    </FormDialog>
  );
}
