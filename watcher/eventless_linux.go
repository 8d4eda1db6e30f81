package watcher

import "golang.org/x/sys/unix"

// eventless lists the file systems that send no events for changes made elsewhere (another machine, the host).
var eventless = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "nfs",
	unix.SMB_SUPER_MAGIC:  "smb",
	unix.CIFS_SUPER_MAGIC: "cifs",
	unix.SMB2_SUPER_MAGIC: "smb2",
	unix.V9FS_MAGIC:       "9p",
	unix.FUSE_SUPER_MAGIC: "fuse", // also virtiofs, sshfs and Docker Desktop's shares
	unix.CEPH_SUPER_MAGIC: "ceph",
	unix.AFS_SUPER_MAGIC:  "afs",
	unix.CODA_SUPER_MAGIC: "coda",
	unix.NCP_SUPER_MAGIC:  "ncp",
	0x786f4256:            "vboxsf",
	0xbacbacbc:            "vmhgfs",
	0x0bd00bd0:            "lustre",
	0x47504653:            "gpfs",
	0x01161970:            "gfs2",
	0x7461636f:            "ocfs2",
}

// EventlessFS returns the type of dir's file system ("nfs", "9p") if it sends no events for changes made elsewhere, so
// that it has to be polled. It returns "" for any other file system, and if the type is unknown. Locks and mmap are
// unreliable on these file systems too.
func EventlessFS(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return ""
	}
	return eventless[uint32(st.Type)]
}
