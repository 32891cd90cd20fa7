const loopback = /^(127(\.\d{1,3}){3}|\[::1\]|localhost)$/;

export function isLoopback(url: string): boolean {
  return loopback.test(new URL(url).hostname);
}
