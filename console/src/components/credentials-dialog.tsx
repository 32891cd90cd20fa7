import { Alert, Button, Group, Modal, Stack } from '@mantine/core';
import { IconDownload, IconKey } from '@tabler/icons-react';
import { CopyText } from './copy-text.tsx';
import { useRestoreFocus } from './kept-focus.ts';
import { t } from '../texts/texts.ts';

interface CredentialsDialogProps {
  readonly title: string;
  readonly credentials: { readonly accessKey: string; readonly secretKey: string; readonly expires?: string };
  /** The endpoint for S3 clients, if it is configured. */
  readonly s3Url?: string | undefined;
  readonly onClose: () => void;
}

/** Shows new credentials once. It closes by its button alone. */
export function CredentialsDialog({ title, credentials, s3Url, onClose }: CredentialsDialogProps) {
  useRestoreFocus();
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack gap="md">
        <Alert color="yellow" icon={<IconKey size={18} />}>
          {t.components.keepTheSecretKeyNowItIs}
        </Alert>
        <dl className="facts">
          <dt>{t.labels.accessKey}</dt>
          <dd>
            <CopyText text={credentials.accessKey} label={t.components.copyTheAccessKey} />
          </dd>
          <dt>{t.labels.secretKey}</dt>
          <dd>
            <CopyText text={credentials.secretKey} label={t.components.copyTheSecretKey} />
          </dd>
        </dl>
        <Group justify="flex-end" gap="xs">
          <Button
            variant="default"
            leftSection={<IconDownload size={16} />}
            onClick={() => save({ url: s3Url, ...credentials, api: 's3v4', path: 'auto' })}
          >
            {t.labels.download}
          </Button>
          <Button onClick={onClose} data-autofocus>
            {t.components.iHaveKeptIt}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Saves a file that `mc alias import` reads. */
function save(content: Readonly<Record<string, string | undefined>>): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2)], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'credentials.json';
  link.click();
  URL.revokeObjectURL(url);
}
