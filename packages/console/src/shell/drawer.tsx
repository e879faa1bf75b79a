import { text } from '#text/shared';
import { Dialog, Modal, ModalOverlay } from 'react-aria-components';
import { Navigation } from './navigation.tsx';

/** The navigation of a phone. */
export const Drawer = ({ onClose }: { onClose: () => void }) => (
  <ModalOverlay className="overlay drawer" isDismissable isOpen onOpenChange={onClose}>
    <Modal>
      <Dialog aria-label={text.navigation.label}>
        <Navigation />
      </Dialog>
    </Modal>
  </ModalOverlay>
);
