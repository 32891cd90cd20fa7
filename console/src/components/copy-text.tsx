import { ActionIcon, CopyButton, Tooltip, Button } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

/** Text with a button that copies it. */
export function CopyText({ text, label }: { readonly text: string; readonly label?: string }) {
  return (
    <span className="mono copy-text">
      <span>{text}</span>
      <CopyButton value={text} timeout={1500}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? t.components.copied : t.components.copy}>
            <ActionIcon size="xs" onClick={copy} aria-label={label ?? say(t.components.copyText, { text })}>
              {copied ? <IconCheck size={12} /> : <IconCopy size={12} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </span>
  );
}

/** A button that copies a text which is not shown. */
export function CopyButtonText({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <CopyButton value={text} timeout={1500}>
      {({ copied, copy }) => (
        <Button
          size="compact-sm"
          variant="default"
          leftSection={copied ? <IconCheck size={14} /> : <IconCopy size={14} />}
          onClick={copy}
        >
          {copied ? t.components.copied : label}
        </Button>
      )}
    </CopyButton>
  );
}
