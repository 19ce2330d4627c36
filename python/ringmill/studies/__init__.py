"""Evidence: what the library is held to, and shown with.

``papers`` puts published designs beside ours, ``workloads`` are whole jobs, ``validation`` holds the error
model to decryptions, ``demo`` is the main job with its report. The library does not import this package; only
the command line and the tests do.
"""
