import { userInfo } from 'node:os';
import { resolve, sep } from 'node:path';
import { ConfigError } from '../lib/config-error.ts';

const userName = (): string => {
  const uid = process.getuid?.();
  try {
    // A container's user often has no name.
    const { username } = userInfo();
    return uid === undefined || username === String(uid) ? username : `${uid} (${username})`;
  } catch {
    return String(uid);
  }
};

const owner = (): string => `${process.getuid?.() ?? 'USER'}:${process.getgid?.() ?? 'GROUP'}`;

/** Problems with the folder and their cures, by the code of a failure. */
const reasons: Record<string, (folder: string) => string> = {
  EACCES: (folder) => `Make it and its files that user's: chown -R ${owner()} ${folder}`,
  EPERM: (folder) => `Make it and its files that user's: chown -R ${owner()} ${folder}`,
  EROFS: () => 'Its file system is read-only: mount a volume there',
  ENOSPC: () => 'Its disk is full: make room',
  EIO: () => 'Its disk is full or damaged: make room',
  ENOTDIR: () => 'A part of the path is a file',
  EEXIST: () => 'It is a file',
};

/**
 * Returns the error of a start that cannot write DATA_DIR: the path, the user and the cure. Returns null if `error` is
 * about something else.
 */
export const folderFault = (dataDir: string, error: unknown): ConfigError | null => {
  const { code, path } = error as NodeJS.ErrnoException;
  const folder = resolve(dataDir);
  const reason = reasons[code ?? ''];
  if (!reason || path === undefined || !`${resolve(path)}${sep}`.startsWith(`${folder}${sep}`)) return null;
  const what = `${folder} cannot be written by user ${userName()} (${code})`;
  return new ConfigError([`DATA_DIR: ${what}. ${reason(folder)}, or set another DATA_DIR.`]);
};
