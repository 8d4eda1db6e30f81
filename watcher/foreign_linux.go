package watcher

import "golang.org/x/sys/unix"

// foreign are file systems on which changes made elsewhere (another machine, the host) raise no events here.
var foreign = map[uint32]string{
	unix.NFS_SUPER_MAGIC:  "nfs",
	unix.SMB_SUPER_MAGIC:  "smb",
	unix.CIFS_SUPER_MAGIC: "cifs",
	unix.SMB2_SUPER_MAGIC: "smb2",
	unix.V9FS_MAGIC:       "9p",
	unix.FUSE_SUPER_MAGIC: "fuse", // virtiofs, sshfs and Docker Desktop's shares say so too
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

// ForeignFS names the file system of dir ("nfs", "9p") where changes made elsewhere raise no events here, so that it is
// polled; "" for any other, and where it cannot be told. Locks and mappings are not to be trusted there either.
func ForeignFS(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return ""
	}
	return foreign[uint32(st.Type)]
}
