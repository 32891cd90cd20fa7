import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';

/** A text that the server searches for once whoever types it pauses. */
export interface Search {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly contains: string;
}

export function useSearch(): Search {
  const [text, onText] = useState('');
  const [contains] = useDebouncedValue(text, 200);
  return { text, onText, contains };
}
