import '@mantine/dropzone/styles.css';
import { Group, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { IconUpload } from '@tabler/icons-react';
import { shorten } from '../text/names.ts';
import { keyOf, uploads } from '../uploads/uploads.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** Uploads files and folders that are dropped anywhere on the page. */
export function DropArea({ bucket, prefix }: { readonly bucket: string; readonly prefix: string }) {
  return (
    <Dropzone.FullScreen
      active
      multiple
      // It takes what is dropped. Upload is the way of the keyboard.
      activateOnKeyboard={false}
      withinPortal={false}
      onDrop={(files) =>
        uploads.add(
          bucket,
          files.map((file) => ({ key: keyOf(prefix, file), file })),
        )
      }
    >
      <Group justify="center" wrap="nowrap" mih={220} gap="md" style={{ pointerEvents: 'none' }}>
        <IconUpload size={36} stroke={1.4} aria-hidden />
        <div style={{ flex: 1, maxWidth: 'max-content', overflowWrap: 'anywhere' }}>
          <Text fw={600}>{t.objects.dropToUpload}</Text>
          <Text size="sm" c="dimmed">
            {say(t.objects.into, { bucket, prefix: shorten(prefix, 100) })}
          </Text>
        </div>
      </Group>
    </Dropzone.FullScreen>
  );
}
