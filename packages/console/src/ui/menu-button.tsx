import { type ReactNode, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { lazyPart } from './lazy-part.tsx';
import type { MenuAction, OpenMenuProps } from './open-menu.tsx';

const OpenMenu = lazyPart<OpenMenuProps>(async () => (await import('./open-menu.tsx')).OpenMenu);

interface MenuButtonProps extends Pick<OpenMenuProps, 'actions' | 'header' | 'placement'> {
  readonly className: string;
  readonly label?: string;
  readonly isDisabled?: boolean;
  readonly children: ReactNode;
}

/**
 * A button that opens a menu. It is a plain one, and the menu is loaded when the pointer or the focus comes near: a list
 * has hundreds of these, and the menus of the library are a tenth of its code.
 */
export function MenuButton({ className, label, isDisabled, children, ...menu }: MenuButtonProps) {
  const trigger = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const act = (action: MenuAction): void => {
    // A dialog that the action opens gives the focus back to what has it now: the menu would be gone.
    flushSync(() => setOpen(false));
    trigger.current?.focus();
    action.run();
  };
  return (
    <>
      <button
        ref={trigger}
        type="button"
        className={className}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        disabled={isDisabled}
        onPointerEnter={() => void OpenMenu.preload()}
        onFocus={() => void OpenMenu.preload()}
        onClick={() => setOpen(true)}
        onKeyDown={(event) => {
          // The click that these keys cause looks like that of a screen reader, and the menu would not take the focus.
          if (!['ArrowDown', 'Enter', ' '].includes(event.key)) return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {children}
      </button>
      {isOpen && (
        <OpenMenu {...menu} label={label} trigger={trigger} onAction={act} onClose={() => setOpen(false)} />
      )}
    </>
  );
}
