import '@mantine/core/styles/ScrollArea.layer.css';
import '@mantine/core/styles/Paper.layer.css';
import '@mantine/core/styles/Overlay.layer.css';
import '@mantine/core/styles/ModalBase.layer.css';
import '@mantine/core/styles/Modal.layer.css';
import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { common } from '../text/en/common.ts';
import { Bar, Button } from './Button.tsx';
import css from './Dialog.module.css';
import { useEscape } from './escape.ts';
import { useReturnFocus } from './return-focus.ts';

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  /** The name of the action: "Pause schedule". */
  title: string;
  children: ReactNode;
  /** Buttons at the end: the action itself. "Close" is always at the top. */
  actions?: ReactNode;
  wide?: boolean;
  /** Only the button "Close" closes it: for values that are shown once. */
  onlyByButton?: boolean;
  /** false: nothing closes it but what it asks for. */
  closable?: boolean;
  /** The name of the closing button, if it is not "Close". */
  closeLabel?: string;
}

export const DialogFrame = ({
  open,
  onClose,
  title,
  children,
  actions,
  wide,
  onlyByButton,
  closable = true,
  closeLabel,
}: DialogProps) => {
  useReturnFocus(open);
  useEscape(open, () => !onlyByButton && onClose());
  return (
    <Modal.Root
      opened={open}
      onClose={onClose}
      size={wide ? 860 : 480}
      closeOnClickOutside={!onlyByButton}
      closeOnEscape={false}
      returnFocus={false}
      classNames={{
        overlay: css.shade,
        content: css.content,
        title: css.title,
        body: css.body,
      }}
    >
      <Modal.Overlay />
      <Modal.Content>
        <div className={css.header}>
          <Modal.Title>{title}</Modal.Title>
          {closable && (
            <Button kind="quiet" small onClick={onClose}>
              {closeLabel ?? common.close}
            </Button>
          )}
        </div>
        <Modal.Body>{children}</Modal.Body>
        {actions && (
          <div className={css.actions}>
            <Bar>{actions}</Bar>
          </div>
        )}
      </Modal.Content>
    </Modal.Root>
  );
};
