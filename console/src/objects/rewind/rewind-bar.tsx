import { Button, Group, Text, TextInput } from '@mantine/core';
import { IconHistory, IconX } from '@tabler/icons-react';
import { formatZone } from '../../text/format.ts';
import { isoOf, localText, ownZone } from '../../text/zoned-time.ts';
import { t } from '../../texts/texts.ts';

interface RewindBarProps {
  /** Undefined: the folder as it is now. */
  readonly at: Date | undefined;
  readonly onChange: (at: Date | undefined) => void;
}

const hourMs = 3_600_000;

/** Chooses the moment at which the folder is shown. */
export function RewindBar({ at, onChange }: RewindBarProps) {
  const zone = ownZone();
  if (at === undefined) {
    return (
      <Button
        px="sm"
        variant="default"
        leftSection={<IconHistory size={14} />}
        onClick={() => onChange(new Date(Date.now() - hourMs))}
      >
        {t.objects.rewind}
      </Button>
    );
  }
  return (
    <Group gap={6} wrap="nowrap" maw="100%">
      <TextInput
        flex={1}
        miw={0}
        type="datetime-local"
        step={1}
        aria-label={t.objects.showTheFolderAsItWasAt}
        // The browser keeps what is half typed: only a whole time changes the page.
        defaultValue={localText(at.toISOString(), zone)}
        max={localText(new Date().toISOString(), zone)}
        onChange={(event) => {
          const moment = isoOf(event.currentTarget.value, zone);
          if (moment !== undefined) onChange(new Date(moment));
        }}
      />
      <Text size="xs" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
        {formatZone(at.toISOString())}
      </Text>
      <Button px="sm" variant="default" leftSection={<IconX size={14} />} onClick={() => onChange(undefined)}>
        {t.objects.backToNow}
      </Button>
    </Group>
  );
}
