import { useEffect, useRef, useState } from 'react';
import { ApiProblem, upload, useMe } from '../api/index.ts';
import { useUnsaved } from '../api/unsaved.ts';
import { files as words } from '../text/en/files.ts';
import { notify } from '../ui/index.ts';
import type { FileOwner } from './owner.ts';

export interface Sending {
  key: number;
  file: File;
  /** The part that was sent; null while it waits for the one before. */
  share: number | null;
  error: ApiProblem | null;
}

const megabyte = 1_048_576;

/** Sends files one after the other. What is on its way ends when the page is left, after a question. */
export const useUploads = (owner: FileOwner) => {
  const most = useMe().limits.max_file_size_in_mb;
  const [list, setList] = useState<readonly Sending[]>([]);
  const queue = useRef<{ key: number; file: File }[]>([]);
  const running = useRef<{ key: number; abort: AbortController } | null>(null);
  const lastKey = useRef(0);
  const change = (key: number, patch: Partial<Sending>) =>
    setList((before) => before.map((each) => (each.key === key ? { ...each, ...patch } : each)));
  const drop = (key: number) => setList((before) => before.filter((each) => each.key !== key));
  useUnsaved(() => running.current !== null);
  useEffect(
    () => () => {
      queue.current = [];
      running.current?.abort.abort();
    },
    [],
  );

  const sendNext = async (): Promise<void> => {
    const next = queue.current.shift();
    if (!next) return;
    const { key, file } = next;
    const abort = new AbortController();
    running.current = { key, abort };
    change(key, { share: 0 });
    try {
      const form = new FormData();
      form.append('file', file, file.name);
      await upload(owner.operations.uploadFile, owner.params, form, {
        signal: abort.signal,
        onProgress: (share) => change(key, { share }),
      });
      drop(key);
      notify(words.uploaded(file.name));
    } catch (error) {
      if (error instanceof ApiProblem) change(key, { share: null, error });
      else drop(key);
    }
    running.current = null;
    await sendNext();
  };

  const add = (files: Iterable<File>) => {
    const added = [...files].map((file): Sending => {
      const tooLarge = file.size > most * megabyte;
      const error = tooLarge
        ? new ApiProblem(400, { code: 'too_large', message: words.tooLarge(file.size, most) })
        : null;
      lastKey.current += 1;
      return { key: lastKey.current, file, share: null, error };
    });
    setList((before) => [...before, ...added]);
    queue.current.push(...added.filter(({ error }) => error === null));
    if (running.current === null) void sendNext();
  };
  return {
    list,
    add,
    /** Ends an upload, or takes a failed one from the list. */
    stop: (key: number) => {
      queue.current = queue.current.filter((each) => each.key !== key);
      if (running.current?.key === key) running.current.abort.abort();
      else drop(key);
    },
    again: ({ key, file }: Sending) => {
      drop(key);
      add([file]);
    },
  };
};
