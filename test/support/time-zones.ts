/** Zones from 12 hours behind UTC to 14 ahead, with those of half and quarter hours and with those that change their clocks. */
export const zones: readonly string[] = [
  // The signs of these names are those of POSIX: `Etc/GMT+12` is behind UTC.
  ...Array.from({ length: 27 }, (_, index) => 12 - index).map((hours) =>
    hours === 0 ? 'UTC' : `Etc/GMT${hours > 0 ? '+' : ''}${hours}`,
  ),
  'America/St_Johns',
  'America/New_York',
  'Europe/Berlin',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
  'Pacific/Apia',
  'Pacific/Kiritimati',
];
