import { ActionIcon, Button, Group, Stack, Text } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { notifyFailure } from '../components/feedback.tsx';
import { FittedName } from '../components/name-text.tsx';
import { formatBytes } from '../text/format.ts';
import { isSameFile } from './part-plan.ts';
import { abortUpload } from './send-file.ts';
import { owner, uploads, useUploads } from './uploads.ts';
import { uploadRecords, type UploadRecord } from './upload-records.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** The uploads in parts that a reload of the page interrupted. A page may not open files again by itself: the user picks them. */
export function useInterrupted(): readonly [readonly UploadRecord[], (record: UploadRecord) => void] {
  const [records, setRecords] = useState<readonly UploadRecord[]>([]);
  useEffect(() => {
    void uploadRecords.list().then((found = []) => setRecords(found.filter((one) => one.owner === owner())));
  }, []);
  const known = useUploads();
  // Uploads of this page are in its own list.
  const shown = records.filter(({ bucket, key }) => !known.some((one) => one.bucket === bucket && one.key === key));
  return [shown, (record) => setRecords(records.filter((one) => one !== record))];
}

interface InterruptedProps {
  readonly records: readonly UploadRecord[];
  readonly onGone: (record: UploadRecord) => void;
}

export function Interrupted({ records, onGone }: InterruptedProps) {
  async function resume(record: UploadRecord): Promise<void> {
    const file = await pickFile();
    if (file === undefined) return;
    if (!isSameFile(file, record)) {
      const wanted = say(t.uploads.itWasOfBytesAndUnchangedSince, { name: record.name, size: record.size });
      notifyFailure(t.uploads.thisIsAnotherFile, new Error(wanted));
      return;
    }
    const { bucket, key, replace, uploadId, partSize } = record;
    uploads.add(bucket, [{ key, file, replace, multipart: { uploadId, partSize } }]);
    onGone(record);
  }

  function giveUp(record: UploadRecord): void {
    void abortUpload(record.bucket, record.key, record.uploadId);
    onGone(record);
  }

  return (
    <Stack gap={8}>
      <Text size="sm" fw={550}>
        {t.uploads.interruptedUploads}
      </Text>
      {records.map((record) => (
        <Group key={record.uploadId} justify="space-between" wrap="nowrap" gap="xs">
          <div className="one-line">
            <Text size="sm">
              <FittedName name={record.name} />
            </Text>
            <Text size="xs" c="dimmed">
              {formatBytes(record.size)}
            </Text>
          </div>
          <Group gap={4} wrap="nowrap">
            <Button size="compact-xs" variant="light" onClick={() => void resume(record)}>
              {t.uploads.pickTheFileToGoOn}
            </Button>
            <ActionIcon
              size="sm"
              aria-label={say(t.uploads.giveUp, { name: record.name })}
              onClick={() => giveUp(record)}
            >
              <IconX size={14} />
            </ActionIcon>
          </Group>
        </Group>
      ))}
    </Stack>
  );
}

function pickFile(): Promise<File | undefined> {
  const input = document.createElement('input');
  input.type = 'file';
  return new Promise((resolve) => {
    input.addEventListener('change', () => resolve(input.files?.[0]), { once: true });
    input.addEventListener('cancel', () => resolve(undefined), { once: true });
    input.click();
  });
}
