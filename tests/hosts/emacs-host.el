;;; Emacs as a client, with one file, greet.sh; for emacs --batch or a daemon.  -*- lexical-binding: t -*-
;; The environment has SERVER, the command as a JSON array, in which MYPID is
;; Emacs' pid, and WHAT, what comes after the answer: stay, quit (kill-emacs),
;; shutdown (eglot-shutdown), delete (delete-process).
;; ./said: `answer` and the answer as JSON, `exit STATUS`

(setq package-directory-list '("/usr/share/emacs/site-lisp/elpa"))
(require 'package)
(package-initialize)
(require 'json)

(defun say (&rest words)
  (let ((coding-system-for-write 'utf-8))
    (write-region (concat (mapconcat (lambda (w) (format "%s" w)) words " ") "\n")
                  nil "said" t 'quiet)))

(defmacro until (condition)
  `(while (not ,condition) (accept-process-output nil 0.05)))

(defvar command (append (json-read-from-string
                         (replace-regexp-in-string
                          "MYPID" (number-to-string (emacs-pid))
                          (getenv "SERVER")))
                        nil))

;; As in an init file: eglot comes later.
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs (cons 'sh-mode command)))
(require 'eglot)

(let* ((coding-system-for-read 'utf-8)
       (what (intern (getenv "WHAT")))
       (eglot-sync-connect 60)
       (eglot-connect-timeout 60)
       (eglot-autoshutdown nil))
  (find-file "greet.sh")
  (apply #'eglot (eglot--guess-contact))
  (until (eglot-current-server))
  (let* ((server (eglot-current-server))
         (process (jsonrpc--process server))
         answer)
    (goto-char (point-min))
    (forward-line 4)
    (forward-char 1)
    ;; Until it has read the file, it knows nothing.
    (until (setq answer (jsonrpc-request server :textDocument/hover
                                         (eglot--TextDocumentPositionParams)
                                         :timeout 60)))
    (say "answer" (json-encode answer))
    (say "ready")
    (pcase what
      ('shutdown (eglot-shutdown server))
      ('delete (delete-process process))
      ('quit (kill-emacs)))
    (when (memq what '(delete shutdown))
      (until (not (process-live-p process)))
      (say "exit" (process-status process) (process-exit-status process)))
    (unless (daemonp)
      (until nil))))
