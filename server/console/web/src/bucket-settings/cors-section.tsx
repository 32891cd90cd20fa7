import { ActionIcon, Button, Group, MultiSelect, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Loaded, Section } from '../components/detail-page.tsx';
import { notifyDone } from '../components/feedback.tsx';
import { FormDialog, FormError } from '../components/form-dialog.tsx';
import { useCors, useSetCors, type CorsRule } from './settings-queries.ts';

interface CorsSectionProps {
  readonly bucket: string;
  readonly mayEdit: boolean;
}

const empty: CorsRule = { origins: [], methods: ['GET'], headers: ['*'], exposed: ['ETag'] };

/** Which pages of other sites may use the bucket. */
export function CorsSection({ bucket, mayEdit }: CorsSectionProps) {
  const rules = useCors(bucket);
  const set = useSetCors(bucket);
  const [edited, setEdited] = useState<number>();

  function save(next: readonly CorsRule[]): void {
    set.mutate(next, {
      onSuccess: () => {
        setEdited(undefined);
        notifyDone('The rules for other sites are saved.');
      },
    });
  }

  return (
    <Section
      title="Other sites (CORS)"
      words="Which pages of other sites browsers let use this bucket."
      action={
        mayEdit &&
        rules.isSuccess && (
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => setEdited(rules.data.length)}
          >
            Add a site
          </Button>
        )
      }
    >
      <Loaded name="The rules" query={rules}>
        {(shown) => (
          <Stack gap="xs">
            {shown.length === 0 && (
              <Text size="sm" c="dimmed">
                No rules of its own: the setting of the server decides.
              </Text>
            )}
            {shown.map((rule, index) => (
              <Group key={index} justify="space-between" wrap="nowrap" align="flex-start" className="card-row">
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  Pages of {rule.origins.join(', ')} may send {rule.methods.join(', ')}.
                </Text>
                {mayEdit && (
                  <Group gap={2} wrap="nowrap">
                    <ActionIcon size="sm" aria-label={`Edit rule ${index + 1}`} onClick={() => setEdited(index)}>
                      <IconPencil size={15} />
                    </ActionIcon>
                    <ActionIcon
                      size="sm"
                      aria-label={`Remove rule ${index + 1}`}
                      onClick={() => save(shown.filter((_, at) => at !== index))}
                    >
                      <IconTrash size={15} />
                    </ActionIcon>
                  </Group>
                )}
              </Group>
            ))}
            {edited === undefined && <FormError error={set.error} />}
            {edited !== undefined && (
              <CorsDialog
                rule={shown[edited] ?? empty}
                pending={set.isPending}
                error={set.error}
                onSave={(rule) => save([...shown.slice(0, edited), rule, ...shown.slice(edited + 1)])}
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

interface CorsDialogProps {
  readonly rule: CorsRule;
  readonly pending: boolean;
  readonly error: Error | null;
  readonly onSave: (rule: CorsRule) => void;
  readonly onClose: () => void;
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
