import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import { common } from '../text/en/common.ts';
import { files as words } from '../text/en/files.ts';
import { Bar, Button, cx, Muted, Problem } from '../ui/index.ts';
import css from './files.module.css';
import type { Sending, useUploads } from './uploads.ts';

const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes('Files');

const Row = ({ sending, uploads }: { sending: Sending; uploads: ReturnType<typeof useUploads> }) => {
  const { key, file, share, error } = sending;
  return (
    <li>
      <div className={css.sending}>
        <bdi className={css.sendingName}>{file.name}</bdi>
        {!error && (
          <>
            <progress aria-label={words.uploading(file.name)} value={share ?? 0} max={1} />
            <Muted small>
              {share === null ? words.waits : share < 1 ? words.sent(share, file.size) : words.checking}
            </Muted>
          </>
        )}
        <Bar>
          {error && error.code !== 'too_large' && (
            <Button small aria-label={words.againNamed(file.name)} onClick={() => uploads.again(sending)}>
              {common.tryAgain}
            </Button>
          )}
          <Button
            small
            kind="quiet"
            aria-label={error ? words.dismissNamed(file.name) : words.stopNamed(file.name)}
            onClick={() => uploads.stop(key)}
          >
            {error ? common.dismiss : words.stop}
          </Button>
        </Bar>
      </div>
      {error && <Problem error={error} />}
    </li>
  );
};

/** The button that asks for files. */
export const UploadButton = ({
  uploads,
  disabledReason,
}: {
  uploads: ReturnType<typeof useUploads>;
  disabledReason: string | null;
}) => {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        data-upload
        onChange={({ currentTarget }) => {
          uploads.add(currentTarget.files ?? []);
          // The same file can be chosen again.
          currentTarget.value = '';
        }}
      />
      <Button disabledReason={disabledReason} onClick={() => input.current?.click()}>
        {words.upload}
      </Button>
    </>
  );
};

/** Takes files that are dropped on it, and shows those on their way. */
export const UploadArea = ({
  uploads,
  disabledReason,
  children,
}: {
  uploads: ReturnType<typeof useUploads>;
  disabledReason: string | null;
  children: ReactNode;
}) => {
  const [over, setOver] = useState(false);
  const take = (event: DragEvent) => {
    if (!hasFiles(event)) return;
    // A browser opens what is dropped anywhere else.
    event.preventDefault();
    setOver(event.type === 'dragover' && !disabledReason);
    if (event.type === 'drop' && !disabledReason) uploads.add(event.dataTransfer.files);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is the pointer's way to the button that is there.
    <div
      className={cx(css.area, over && css.over)}
      data-drop
      onDragOver={take}
      onDrop={take}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
    >
      {uploads.list.length > 0 && (
        <ul className={css.uploads} aria-label={words.uploads}>
          {uploads.list.map((sending) => (
            <Row key={sending.key} sending={sending} uploads={uploads} />
          ))}
        </ul>
      )}
      {children}
      {over && <p className={css.drop}>{words.drop}</p>}
    </div>
  );
};
