import { Button, FileButton, Group, SegmentedControl, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { notifyDone } from '../../components/feedback.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useStartJob } from './batch-queries.ts';
import { type JobTemplate, jobTemplates } from './job-templates.ts';

/** The server refuses a longer definition. */
const maxCharacters = 65_536;

/** Starts a job from its YAML. The server checks it, and its error names the field. */
export function StartJobDialog({ onClose }: { readonly onClose: () => void }) {
  const start = useStartJob();
  const [kind, setKind] = useState<JobTemplate>('expire');
  const [definition, setDefinition] = useState<string>(jobTemplates.expire);
  const [tooLong, setTooLong] = useState(false);

  function choose(next: JobTemplate): void {
    setKind(next);
    // The typed definition stays.
    if (definition.trim() === '' || definition === jobTemplates[kind]) setDefinition(jobTemplates[next]);
  }

  async function read(file: File | null): Promise<void> {
    if (file === null) return;
    setTooLong(file.size > 4 * maxCharacters);
    if (file.size <= 4 * maxCharacters) setDefinition(await file.text());
  }

  return (
    <FormDialog
      title="Start a batch job"
      submit="Start job"
      wide
      pending={start.isPending}
      error={tooLong ? new Error('The file is longer than a definition may be: 64 KiB.') : start.error}
      onClose={onClose}
      onSubmit={() =>
        start.mutate(definition, {
          onSuccess: () => {
            notifyDone('The job is started.');
            onClose();
          },
        })
      }
    >
      <Text size="sm">
        A job walks a bucket once, and removes, changes or copies the versions that match. What it removes is gone for
        good, with all versions.
      </Text>
      <Group justify="space-between">
        <SegmentedControl
          aria-label="Kind of job"
          size="xs"
          value={kind}
          onChange={(value) => choose(value)}
          data={[
            { value: 'expire', label: 'Remove objects' },
            { value: 'keyrotate', label: 'Change keys' },
            { value: 'replicate', label: 'Replicate' },
          ]}
        />
        <FileButton accept=".yaml,.yml,text/yaml,application/yaml" onChange={(file) => void read(file)}>
          {(props) => (
            <Button {...props} variant="default" size="compact-sm">
              Read a file
            </Button>
          )}
        </FileButton>
      </Group>
      <Textarea
        label="Definition"
        description={
          <>
            YAML, as of <span className="mono">mc batch generate</span>
          </>
        }
        value={definition}
        onChange={(event) => setDefinition(event.currentTarget.value)}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
        spellCheck={false}
        autoCapitalize="none"
        autosize
        minRows={12}
        maxRows={24}
        required
        withAsterisk={false}
        data-autofocus
      />
    </FormDialog>
  );
}
