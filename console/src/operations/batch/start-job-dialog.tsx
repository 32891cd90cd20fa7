import { Button, FileButton, Group, SegmentedControl, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { notifyDone } from '../../components/feedback.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useStartJob } from './batch-queries.ts';
import { type JobTemplate, jobTemplates, withoutSecrets } from './job-templates.ts';
import { rich } from '../../texts/say.ts';
import { t } from '../../texts/texts.ts';
import { useDraft } from '../../components/use-draft.ts';

/** The server refuses a longer definition. */
const maxCharacters = 65_536;

/** Starts a job from its YAML. The server checks it, and its error names the field. */
export function StartJobDialog({ onClose }: { readonly onClose: () => void }) {
  const start = useStartJob();
  const [kind, setKind] = useDraft<JobTemplate>('job.kind', 'expire');
  const [definition, setDefinition] = useDraft<string>('job.definition', jobTemplates.expire, withoutSecrets);
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
      title={t.batch.startABatchJob}
      submit={t.batch.startJob}
      wide
      pending={start.isPending}
      error={tooLong ? new Error(t.batch.theFileIsLongerThanADefinition) : start.error}
      onClose={onClose}
      onSubmit={() =>
        start.mutate(definition, {
          onSuccess: () => {
            notifyDone(t.batch.theJobIsStarted);
            onClose();
          },
        })
      }
    >
      <Text size="sm">{t.batch.aJobWalksABucketOnceAnd}</Text>
      <Group justify="space-between">
        <SegmentedControl
          aria-label={t.batch.kindOfJob}
          size="xs"
          value={kind}
          onChange={(value) => choose(value)}
          data={[
            { value: 'expire', label: t.batch.removeObjects },
            { value: 'keyrotate', label: t.batch.changeKeys },
            { value: 'replicate', label: t.batch.replicate },
          ]}
        />
        <FileButton accept=".yaml,.yml,text/yaml,application/yaml" onChange={(file) => void read(file)}>
          {(props) => (
            <Button {...props} variant="default" size="compact-sm">
              {t.batch.readAFile}
            </Button>
          )}
        </FileButton>
      </Group>
      <Textarea
        label={t.batch.definition}
        description={rich(t.batch.yamlAsOf, { command: <span className="mono">mc batch generate</span> })}
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
