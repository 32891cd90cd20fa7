import { notifications } from '@mantine/notifications';

/** A failure of something the person just did; stays until they have read it. */
export function notifyFailure(title: string, error: Error): void {
  notifications.show({
    title,
    message: error.message,
    color: 'red',
    autoClose: 15_000,
    withBorder: true,
    role: 'alert',
  });
}

export function notifyDone(message: string): void {
  notifications.show({ message, autoClose: 4_000, withBorder: true });
}
