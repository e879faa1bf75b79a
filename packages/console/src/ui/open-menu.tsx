import type { ReactNode, RefObject } from 'react';
import { Header, Menu, MenuItem, MenuSection, Popover, type PopoverProps } from 'react-aria-components';

export interface MenuAction {
  readonly label: string;
  readonly isDangerous?: boolean;
  /** Why it can't be done now. */
  readonly hindrance?: string | undefined;
  run(): void;
}

export interface OpenMenuProps {
  readonly actions: readonly MenuAction[];
  readonly label: string | undefined;
  readonly header?: ReactNode;
  readonly placement: NonNullable<PopoverProps['placement']>;
  readonly trigger: RefObject<HTMLButtonElement | null>;
  onAction(action: MenuAction): void;
  onClose(): void;
}

/** The menu of a button that was pressed. */
export function OpenMenu({ actions, label, header, placement, trigger, onAction, onClose }: OpenMenuProps) {
  const items = actions.map((action) => (
    <MenuItem
      key={action.label}
      textValue={action.label}
      isDisabled={action.hindrance !== undefined}
      className={action.isDangerous ? 'react-aria-MenuItem danger' : 'react-aria-MenuItem'}
      onAction={() => onAction(action)}
    >
      {action.label}
      {action.hindrance !== undefined && <small>{action.hindrance}</small>}
    </MenuItem>
  ));
  return (
    <Popover
      className="popover"
      trigger="MenuTrigger"
      triggerRef={trigger}
      placement={placement}
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <Menu
        className="options"
        aria-label={label ?? trigger.current?.textContent ?? ''}
        autoFocus="first"
        onClose={onClose}
      >
        {header === undefined ? (
          items
        ) : (
          <MenuSection>
            <Header>{header}</Header>
            {items}
          </MenuSection>
        )}
      </Menu>
    </Popover>
  );
}
