import { Button, Group, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { SubmitEvent } from 'react';
import { useNavigate } from 'react-router';
import { objectUrl } from './places.ts';

interface OpenByKeyProps {
  readonly bucket: string;
  readonly prefix: string;
}

/** For people who may read objects but not list them, as the policy `readonly` has it. */
export function OpenByKey({ bucket, prefix }: OpenByKeyProps) {
  const navigate = useNavigate();
  const [key, setKey] = useState(prefix);

  function submit(event: SubmitEvent<HTMLFormElement>): void {
    event.preventDefault();
    void navigate(objectUrl(bucket, prefix, key));
  }

  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs">
        <TextInput
          flex={1}
          label="Open an object by its key"
          description="You may be allowed to read objects whose names you know."
          required
          withAsterisk={false}
          spellCheck={false}
          autoComplete="off"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
        />
        <Button type="submit" variant="default">
          Open
        </Button>
      </Group>
    </form>
  );
}
