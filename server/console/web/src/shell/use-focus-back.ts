import { useEffect } from 'react';

/** Gives the focus back to what had it before a dialog took it: who works by keyboard goes on where they were. */
export function useFocusBack(): void {
  useEffect(() => {
    const before = document.activeElement;
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
}
